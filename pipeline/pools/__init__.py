"""The pools of the levels and their past. May import deals, work and store; knows nothing of Daily holes."""
