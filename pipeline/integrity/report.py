"""What verification finds: named checks with counts, problems and notes, collected as they run.

A problem is something that must not be; a note is worth knowing and in order, such as a published hole that
today's code would choose otherwise.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Final

from solver.errors import FairwayError

NO_FILE: Final = "it is no file, but a folder with a file's name, a link, a pipe or a device; move it away"
MOST_PER_FILE: Final = 5  # a file with one fault in every row is told from these


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found in one file.

    Attributes:
        file: its path in the data root.
        what: what is wrong, or worth knowing.
    """

    file: str
    what: str

    def __str__(self) -> str:
        return self.what if self.what.startswith(self.file) else f"{self.file}: {self.what}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check, done.

    Attributes:
        name: of the check.
        unit: what it counts, in the plural.
        checked: how many it looked at.
        problems: what must not be.
        notes: what is worth knowing.
        seconds: how long it took by the clock that was handed in.
    """

    name: str
    unit: str
    checked: int
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    seconds: float

    @property
    def is_passed(self) -> bool:
        """Whether it found no problem."""
        return not self.problems


class Check:
    """One check while it runs; it may run in several pieces, one for each part.

    Attributes:
        name: of the check.
        unit: what it counts, in the plural.
        checked: how many it has looked at.
        problems: what must not be.
        notes: what is worth knowing.
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
        """Note something that must not be."""
        self.problems.append(Finding(file, what))

    def note(self, file: str, what: str) -> None:
        """Note something worth knowing."""
        self.notes.append(Finding(file, what))

    def collect(self, file: str, faults: Iterable[str]) -> None:
        """Note the faults of one file: the first few, and how many there are beside them."""
        found = iter(faults)
        for fault in islice(found, MOST_PER_FILE):
            self.problem(file, fault)
        more = sum(1 for _ in found)
        if more:
            self.problem(file, f"and {more} more of the kind")

    def result(self) -> CheckResult:
        """The check as it stands."""
        findings = tuple(self.problems), tuple(self.notes)
        return CheckResult(self.name, self.unit, self.checked, *findings, self.seconds)


class _Piece:
    """A piece of a check: its time is taken, and an error about the data root becomes a problem."""

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
        return True  # damage is what verification is there to report; the next check goes on


class Report:
    """All checks of one verification, in the order in which they were first run.

    Args:
        clock: seconds from any fixed moment; only differences are used.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._checks: dict[str, Check] = {}

    def check(self, name: str, unit: str, file: str) -> _Piece:
        """Begin a piece of a check, as a context.

        Args:
            name: of the check.
            unit: what it counts, in the plural.
            file: what an error is put down to that the piece does not handle itself; it ends the piece.
        """
        return _Piece(self._checks.setdefault(name, Check(name, unit)), file, self._clock)

    def results(self) -> tuple[CheckResult, ...]:
        """The checks as they stand."""
        return tuple(check.result() for check in self._checks.values())
