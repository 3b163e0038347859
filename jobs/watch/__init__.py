"""How a root is doing, and who is told: log, metrics, status, hooks."""
