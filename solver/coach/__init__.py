"""Advice for people who play: hints, reasons and reviews. May import table, search and players."""
