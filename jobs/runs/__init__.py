"""The jobs: each takes the lock, does its work and leaves a record."""
