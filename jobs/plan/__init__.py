"""What is due, as pure functions of the time and the files."""
