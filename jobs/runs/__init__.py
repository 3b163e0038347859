"""Jobs that change a data root, under its lock and with a run record. May import watch and below.

Each takes the data root, the settings in force (with the secret key) and the job's dependencies.
"""
