"""What is run: the jobs, their settings, status and scheduler, and the command line."""
