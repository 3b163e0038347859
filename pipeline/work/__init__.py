"""How work is handed out, counted and recorded. May import store."""
