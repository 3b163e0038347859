"""What was asked for: the settings from file, environment and options."""
