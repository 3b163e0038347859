"""The game, pure: cards, rules, deals, moves, the exact search and the steady player.

Nothing in this package touches a disk, a clock, the environment or a random number.
"""
