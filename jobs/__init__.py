"""What is run: settings, the lock, the nightly job, the scheduler and the command line."""
