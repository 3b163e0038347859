"""The secret key of the Daily holes, as bytes that cannot be printed by accident."""

from typing import Final

HIDDEN: Final = "<the daily key>"


class DailyKey(bytes):
    """The 32 secret bytes that future holes depend on.

    They are ordinary bytes for computing, but show as `HIDDEN` in logs, errors, tracebacks with variables,
    and the names of tasks handed to an executor.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN

    def __str__(self) -> str:
        return HIDDEN
