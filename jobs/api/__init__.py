"""Values in, documents out: what commands and programs share."""
