"""What commands and programs share: text and values in, JSON documents out. May import runs and below."""
