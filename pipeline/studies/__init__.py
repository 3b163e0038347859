"""Statistics over many deals and many results. May import play, query and what they stand on."""
