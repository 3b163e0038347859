"""Settings: read from a file, the environment and the command line, and checked.

May import `jobs.days` and `pipeline`.
"""
