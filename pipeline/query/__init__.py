"""Read-only SQL over the catalog, for strangers. May import pools, daily and what they stand on."""
