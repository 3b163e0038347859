"""What people play and how it is scored. May import pools, daily and what they stand on."""
