"""What is due and whether the clock can be trusted: pure functions of the time and the files.

May import `jobs.days`, `jobs.settings` and `pipeline`.
"""
