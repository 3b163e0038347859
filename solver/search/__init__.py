"""The exact search: the best score of a deal or position, with proof. May import table."""
