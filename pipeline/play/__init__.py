"""Rounds, scorecards and results of players. May import pools, daily and the wings below them."""
