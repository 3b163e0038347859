"""The secret key of the Daily holes, as a value that does not show itself."""

from typing import Final

HIDDEN: Final = "<the daily key>"


class DailyKey(bytes):
    """The 32 secret bytes that holes to come depend on.

    They are bytes for whatever computes with them, and `HIDDEN` for whatever shows a value: a log, an error,
    a traceback with its variables, the name of a piece of work that was handed to an executor.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN

    def __str__(self) -> str:
        return HIDDEN
