"""The state of a data root and its reporting: status, metrics, log, hooks."""
