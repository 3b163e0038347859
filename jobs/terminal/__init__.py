"""What every command stands on: streams, options, exit codes, progress."""
