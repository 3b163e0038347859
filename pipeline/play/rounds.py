"""Rounds of nine holes: how the deals of a level's pool are assigned to rounds (course v1, frozen).

The definition walks the pool in number order: each deal goes to the oldest round that still needs its par, on
the first free hole of that par. A deal whose par is not on the course is left out, and a round exists once it
is full. So a growing pool keeps its rounds and only adds to them; a new generation has rounds of its own.

The walk itself is not needed: with n holes of a par on the course, the i-th deal of that par (from 0) is in
round i div n + 1, on the (i mod n)-th hole of that par.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from pipeline import versions
from pipeline.errors import CheckError, DamagedError
from pipeline.pools.catalog import Part, Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.storage import Storage
from solver.errors import UsageError

FIRST_ROUND: Final = 1

_COLUMNS: Final = ("deal_number", "deal", "par", "best_score")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a deal in the rounds of a pool: round and hole, both from 1."""

    round: int
    hole: int


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole of a round: its number in the round, from 1, and the columns of its deal that players need."""

    hole: int
    deal_number: int
    deal: str
    par: int
    best_score: int

    def document(self) -> dict[str, Any]:
        """Return the hole as a JSON document; its number is text because JavaScript rounds large numbers."""
        return {
            "hole": self.hole,
            "deal_number": str(self.deal_number),
            "deal": self.deal,
            "par": self.par,
            "best_score": self.best_score,
        }


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a level's pool in a generation, by the rules of that name; the number is from 1."""

    level: str
    generation: int
    rules: str
    number: int
    holes: tuple[Hole, ...]

    @property
    def title(self) -> str:
        """Heading of the round."""
        return f"round {self.number} of level {self.level}, generation {self.generation}"

    @property
    def par(self) -> int:
        """Sum of the pars."""
        return sum(hole.par for hole in self.holes)

    @property
    def best_score(self) -> int:
        """Sum of the best scores."""
        return sum(hole.best_score for hole in self.holes)

    def document(self) -> dict[str, Any]:
        """Return the round as a JSON document."""
        return {
            "level": self.level,
            "generation": self.generation,
            "round": self.number,
            "course": versions.COURSE,
            "rules": self.rules,
            "par": self.par,
            "best_score": self.best_score,
            "holes": [hole.document() for hole in self.holes],
        }


def places(
    pars: Iterable[int], course: Sequence[int], before: Mapping[int, int] | None = None
) -> Iterator[Place | None]:
    """Find the place of each deal of a pool.

    Args:
        pars: of consecutive deals of the pool, in number order.
        course: pars of the holes of a round.
        before: number of earlier deals of the pool by par; None if there are none.

    Yields:
        One place per deal, also in rounds that are not full yet; None for a deal that is left out.
    """
    holes = {par: [hole for hole, of in enumerate(course, start=1) if of == par] for par in course}
    seen = Counter(before)
    for par in pars:
        if par not in holes:
            yield None
            continue
        rounds, place = divmod(seen[par], len(holes[par]))
        seen[par] += 1
        yield Place(FIRST_ROUND + rounds, holes[par][place])


def full_rounds(counts: Mapping[int, int], course: Sequence[int]) -> int:
    """Return the number of full rounds of a course, given the number of deals of the pool by par."""
    return min(counts.get(par, 0) // needed for par, needed in Counter(course).items())


def round_of(storage: Storage, pool: Pool, number: int) -> Round:
    """Return a round of a pool.

    Only parts that contain deals of the round are read, according to the counts of pars in the catalog.

    Raises:
        UsageError: the number is below 1.
        CheckError: the pool does not have enough deals yet.
        DamagedError: a part differs from what the catalog says.
    """
    if number < FIRST_ROUND:
        raise UsageError(f"there is no round {number}; the first round is {FIRST_ROUND}")
    course = pool.policy.course
    if not course:
        raise CheckError(f"level {pool.level} has no rounds, because its policy has no course")
    # For each par, the indices (from 0) of the deals of the round among the deals of that par.
    wanted = {par: range((number - 1) * n, number * n) for par, n in Counter(course).items()}
    before: Counter[int] = Counter()
    holes: list[Hole] = []
    for part in pool.parts:
        if any(_overlap(before[par], part.pars.get(par, 0), indices) for par, indices in wanted.items()):
            deals = _deals_of(storage, part)
            found = zip(places((deal["par"] for deal in deals), course, before), deals, strict=True)
            holes += [Hole(place.hole, **deal) for place, deal in found if place and place.round == number]
        before.update(part.pars)
        if len(holes) == len(course):
            return Round(
                pool.level,
                pool.generation,
                pool.policy.rules,
                number,
                tuple(sorted(holes, key=attrgetter("hole"))),
            )
    raise CheckError(_too_few(pool.level, number, before, course))


def _overlap(first: int, count: int, indices: range) -> bool:
    """Whether `count` indices from `first` on overlap a range."""
    return first < indices.stop and indices.start < first + count


def _deals_of(storage: Storage, part: Part) -> list[dict[str, Any]]:
    """Read the deals of a part, in number order."""
    deals: list[dict[str, Any]] = read_named_part(storage, part, _COLUMNS).to_pylist()
    if Counter(deal["par"] for deal in deals) != part.pars:
        raise DamagedError(f"{part.path}: the pars differ from those in catalog.json")
    return deals


def _too_few(level: str, number: int, counts: Mapping[int, int], course: Sequence[int]) -> str:
    """Message for a round that does not exist yet."""
    full = full_rounds(counts, course)
    missing = {par: (full + 1) * n - counts.get(par, 0) for par, n in sorted(Counter(course).items())}
    needed_deals = ", ".join(f"{count} of par {par}" for par, count in missing.items() if count > 0)
    return (
        f"level {level} has no round {number} yet: its pool is enough for {full}; the next one needs more"
        f" deals: {needed_deals}; each night adds some"
    )
