"""Files of a data root, written whole or not at all, and their JSON. May import errors and versions."""
