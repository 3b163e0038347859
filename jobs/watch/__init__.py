"""Status, metrics, log and hooks: how a data root is doing. May import plan and below."""
