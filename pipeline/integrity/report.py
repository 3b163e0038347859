"""Findings of a verification: named checks with counts, problems and notes, collected as they run.

A problem is an error in the data root. A note is not an error but worth knowing, such as a published hole
that today's code would not choose.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Final

from solver.errors import FairwayError

NOT_A_FILE: Final = (
    "not a regular file, but a folder with a file's name, a link, a pipe or a device; move it away"
)
MAX_PER_FILE: Final = 5  # enough to recognise a file with a fault in every row


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem or note about a file, which is a path in the data root."""

    file: str
    what: str

    def __str__(self) -> str:
        return self.what if self.what.startswith(self.file) else f"{self.file}: {self.what}"


@dataclass(slots=True)
class Check:
    """One check; it may run in several pieces, such as one per part.

    Attributes:
        name: the name of the check.
        unit: what it counts, in the plural.
        checked: how many it has checked.
        problems: errors in the data root.
        notes: other findings worth knowing.
        seconds: how long it has taken.
    """

    name: str
    unit: str
    checked: int = 0
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_passed(self) -> bool:
        """Whether it has found no problems."""
        return not self.problems

    def problem(self, file: str, what: str) -> None:
        """Add a problem."""
        self.problems.append(Finding(file, what))

    def note(self, file: str, what: str) -> None:
        """Add a note."""
        self.notes.append(Finding(file, what))

    def collect(self, file: str, faults: Iterable[str]) -> None:
        """Add the first faults of one file as problems, and the number of the others."""
        rest = iter(faults)
        for fault in islice(rest, MAX_PER_FILE):
            self.problem(file, fault)
        more = sum(1 for _ in rest)
        if more:
            self.problem(file, f"and {more} more like these")


class Report:
    """All checks of one verification, in the order in which they began, timed by a clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._checks: dict[str, Check] = {}

    def check(self, name: str, unit: str, file: str) -> "_Piece":
        """Return a context manager for a piece of a check.

        Args:
            name: the name of the check.
            unit: what it counts, in the plural.
            file: the file of the problem that is added if the piece ends with an error.
        """
        return _Piece(self._checks.setdefault(name, Check(name, unit)), file, self._clock)

    def results(self) -> tuple[Check, ...]:
        """Return the checks so far."""
        return tuple(self._checks.values())


class _Piece:
    """Times a piece of a check, and turns an error about the data root into a problem."""

    def __init__(self, check: Check, file: str, clock: Callable[[], float]) -> None:
        self._check = check
        self._file = file
        self._clock = clock
        self._begun = clock()

    def __enter__(self) -> Check:
        return self._check

    # Not a `contextlib.contextmanager`, so that type checkers see that errors do not leave the block.
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._check.seconds += self._clock() - self._begun
        if not isinstance(error, FairwayError):
            return False
        self._check.problem(self._file, str(error))
        return True
