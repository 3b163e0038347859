"""Simulated players whose score distributions are computed exactly. May import table and search."""
