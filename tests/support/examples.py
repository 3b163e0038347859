"""How many examples a test tries: a quarter of them by default, all with the soak."""

few = True  # set by tests/conftest.py from the expression of `-m`

_DEFAULT_SHARE = 4


def examples(count: int) -> int:
    """Return how many of `count` examples to try; they are the first ones, so the soak tries them as well."""
    return -(-count // _DEFAULT_SHARE) if few else count
