"""The tests; a package, so that they can share the slow reference programs beside them (`tests.naive`)."""
