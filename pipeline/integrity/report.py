"""Findings of a verification: named checks with counts, problems and notes, collected as they run.

A problem is an error in the data root. A note is not an error but worth knowing, such as a published hole
that today's code would not choose.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
    """One problem or note.

    Attributes:
        file: its path in the data root.
        what: the problem or note.
    """

    file: str
    what: str

    def __str__(self) -> str:
        return self.what if self.what.startswith(self.file) else f"{self.file}: {self.what}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: the name of the check.
        unit: what it counts, in the plural.
        checked: how many it checked.
        problems: errors in the data root.
        notes: other findings worth knowing.
        seconds: how long it took.
    """

    name: str
    unit: str
    checked: int
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    seconds: float

    @property
    def is_passed(self) -> bool:
        """Whether it found no problems."""
        return not self.problems


class Check:
    """One check while it runs; it may run in several pieces, one per part.

    Attributes:
        name: the name of the check.
        unit: what it counts, in the plural.
        checked: how many it has checked so far.
        problems: errors in the data root.
        notes: other findings worth knowing.
        seconds: how long it has taken.
    """

    def __init__(self, name: str, unit: str) -> None:
        self.name = name
        self.unit = unit
        self.checked = 0
        self.problems: list[Finding] = []
        self.notes: list[Finding] = []
        self.seconds = 0.0

    def problem(self, file: str, what: str) -> None:
        """Add a problem."""
        self.problems.append(Finding(file, what))

    def note(self, file: str, what: str) -> None:
        """Add a note."""
        self.notes.append(Finding(file, what))

    def collect(self, file: str, faults: Iterable[str]) -> None:
        """Add the first faults of one file as problems, and the number of the others."""
        found = iter(faults)
        for fault in islice(found, MAX_PER_FILE):
            self.problem(file, fault)
        more = sum(1 for _ in found)
        if more:
            self.problem(file, f"and {more} more like these")

    def result(self) -> CheckResult:
        """Return the result so far."""
        findings = tuple(self.problems), tuple(self.notes)
        return CheckResult(self.name, self.unit, self.checked, *findings, self.seconds)


class _Piece:
    """Context manager for a piece of a check: times it, and turns errors about the data into problems."""

    def __init__(self, check: Check, file: str, clock: Callable[[], float]) -> None:
        self._check = check
        self._file = file
        self._clock = clock
        self._begun = clock()

    def __enter__(self) -> Check:
        return self._check

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._check.seconds += self._clock() - self._begun
        if not isinstance(error, FairwayError):
            return False
        self._check.problem(self._file, str(error))
        return True  # damage is reported, and the next check goes on


class Report:
    """All checks of one verification, in the order in which they began.

    Args:
        clock: seconds since any fixed time.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._checks: dict[str, Check] = {}

    def check(self, name: str, unit: str, file: str) -> _Piece:
        """Return a context manager for a piece of a check.

        Args:
            name: the name of the check.
            unit: what it counts, in the plural.
            file: the file of the problem that is added if the piece ends with an error.
        """
        return _Piece(self._checks.setdefault(name, Check(name, unit)), file, self._clock)

    def results(self) -> tuple[CheckResult, ...]:
        """Return the results so far."""
        return tuple(check.result() for check in self._checks.values())
