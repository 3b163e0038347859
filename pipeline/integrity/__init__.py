"""Check and repair of a data root. May import query, play and what they stand on."""
