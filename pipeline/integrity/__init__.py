"""Checks and repairs a whole data root. May import query, play and everything they stand on."""
