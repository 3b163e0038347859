"""What commands and programs share: values in, documents out. May import every wing but terminal and cli."""
