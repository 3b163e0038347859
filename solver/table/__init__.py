"""What lies on the table, what may be played and how it scores. May import cards and errors."""
