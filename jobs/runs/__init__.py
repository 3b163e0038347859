"""Jobs that change a data root, under its lock and with a run record. May import watch and below."""
