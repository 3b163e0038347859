"""The jobs; those that change pools or holes hold the lock and leave a run record.

May import watch and below. Each job takes the data root, the settings in force (with the secret key) and its
dependencies.
"""
