"""From a deal number to a certified deal and its row. May import work and store."""
