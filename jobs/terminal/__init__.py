"""What all commands share: options, printing, progress, exit codes. May import every wing but cli."""
