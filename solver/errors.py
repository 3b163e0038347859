"""The exceptions of the game; the other packages derive theirs from the same base class.

The command line turns every `FairwayError` into one line and an exit code, so a message contains what is
wrong, the value, where it was found, and how to correct it.
"""


class FairwayError(Exception):
    """Base class of all errors that Fairway raises."""


class UsageError(FairwayError):
    """An invalid value from the caller: an unknown level, a number out of range, a bad date."""


class DealError(UsageError):
    """A text or a list of cards that is not a deal.

    Attributes:
        faults: everything that is wrong with it, in reading order, one sentence each.
    """

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(faults)  # the argument itself, so that executors can pickle the error
        self.faults = faults

    def __str__(self) -> str:
        return "not a deal: " + "; ".join(self.faults)


class LineError(UsageError):
    """A move in a line that the rules do not allow.

    Attributes:
        index: position of the move in the line, from 0.
        move: the illegal letter.
        legal: the letters that were legal there, in the order `1` .. `7`, `D`.
        where: which line it is, as a prefix of the message; empty if there is only one.
    """

    def __init__(self, index: int, move: str, legal: str, where: str = "") -> None:
        super().__init__(index, move, legal, where)
        self.index = index
        self.move = move
        self.legal = legal
        self.where = where

    def __str__(self) -> str:
        allowed = ", ".join(self.legal) or "nothing: the hole is over"
        what = f"move {self.index + 1} of the line, {self.move!r}, is not legal; legal there: {allowed}"
        return f"{self.where}: {what}" if self.where else what

    def in_line(self, where: str) -> "LineError":
        """Return the same error with a prefix that says which of several lines it is in."""
        return LineError(self.index, self.move, self.legal, where)
