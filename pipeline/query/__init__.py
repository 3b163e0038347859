"""Read-only SQL from untrusted users. May import pools, daily and the wings below them."""
