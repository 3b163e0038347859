"""The command line: the only place that reads arguments, prints, and knows what time it is."""

from jobs.cli.app import main

__all__ = ["main"]
