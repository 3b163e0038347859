"""The same jobs run by the built-in scheduler."""
