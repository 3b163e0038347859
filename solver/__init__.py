"""Golf Solitaire itself: cards, rules, deals, moves, the exact search, simulated players and hints.

The game is pure: no clock, no randomness, no files except the compiled kernels (`solver.kernel_cache`).
"""
