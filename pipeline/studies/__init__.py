"""Statistics over many deals and many results. May import play, query and the wings below them."""
