"""Rounds of nine holes: which deals of a level's pool make up which round (course v1, frozen).

Walk the pool in number order: each deal goes to the oldest round that still needs its par, onto the first
free hole of that par. A deal whose par is not on the course is left out, and a round exists once it is full.
So a pool that grows keeps its rounds and only adds to them; a new generation has rounds of its own.

The walk need not be made. With n holes of a par on the course, the i-th deal of that par (from 0) is in round
i div n + 1, on the hole that is the (i mod n)-th of that par.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from pipeline import versions
from pipeline.deals.levels import level_named
from pipeline.errors import CheckError, DamagedError
from pipeline.pools.catalog import Part, Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.storage import Storage
from solver.errors import UsageError

FIRST_ROUND: Final = 1

_COLUMNS: Final = ("deal_number", "deal", "par", "best_score")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a deal of a pool is played.

    Attributes:
        round: number of the round, from 1.
        hole: which of its holes, from 1.
    """

    round: int
    hole: int


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole of a round.

    Attributes:
        hole: its place in the round, from 1.
        deal_number: the number that names the deal.
        deal: the cards, in notation.
        par: its par.
        best_score: the least score that can be reached.
    """

    hole: int
    deal_number: int
    deal: str
    par: int
    best_score: int

    def document(self) -> dict[str, Any]:
        """The hole for programs; its deal number is text, because JavaScript would round a large one."""
        return {
            "hole": self.hole,
            "deal_number": str(self.deal_number),
            "deal": self.deal,
            "par": self.par,
            "best_score": self.best_score,
        }


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a level.

    Attributes:
        level: name of the level.
        generation: of the pool that the deals are from.
        number: of the round, from 1.
        holes: in the order they are played.
    """

    level: str
    generation: int
    number: int
    holes: tuple[Hole, ...]

    @property
    def title(self) -> str:
        """What the round is called for people."""
        return f"round {self.number} of level {self.level}, generation {self.generation}"

    @property
    def par(self) -> int:
        """Par of all holes together."""
        return sum(hole.par for hole in self.holes)

    @property
    def best_score(self) -> int:
        """The least score that can be reached on all holes together."""
        return sum(hole.best_score for hole in self.holes)

    def document(self) -> dict[str, Any]:
        """The round for programs."""
        return {
            "level": self.level,
            "generation": self.generation,
            "round": self.number,
            "course": versions.COURSE,
            "rules": level_named(self.level).rules.name,
            "par": self.par,
            "best_score": self.best_score,
            "holes": [hole.document() for hole in self.holes],
        }


def places(
    pars: Iterable[int], course: Sequence[int], before: Mapping[int, int] | None = None
) -> Iterator[Place | None]:
    """Where each deal of a pool is played.

    Args:
        pars: of the pool's deals, in number order.
        course: pars of a round's holes.
        before: how many deals of each par the pool has before these; None where these are the first.

    Yields:
        One place a deal, also in rounds that are not full yet; None for a deal that is left out.
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
    """How many rounds exist.

    Args:
        counts: how many deals of the pool have each par; what is not there counts as 0.
        course: pars of a round's holes, at least one.
    """
    return min(counts.get(par, 0) // needed for par, needed in Counter(course).items())


def round_of(storage: Storage, pool: Pool, number: int) -> Round:
    """A round of a pool as it is in the catalog.

    Parts are passed over where the catalog says of their pars that no deal of the round is among them.

    Args:
        storage: the data root; it is only read.
        pool: the pool; its parts are in number order, and so are their rows.
        number: of the round, from 1.

    Raises:
        UsageError: the number is below 1.
        CheckError: the pool has not enough deals yet.
        DamagedError: a part is not what the catalog says.
    """
    if number < FIRST_ROUND:
        raise UsageError(f"there is no round {number}: the first one is {FIRST_ROUND}")
    course = level_named(pool.level).course
    # Which of the pool's deals of each par the round is made of, counted from 0.
    wanted = {par: range((number - 1) * n, number * n) for par, n in Counter(course).items()}
    before: Counter[int] = Counter()
    holes: list[Hole] = []
    for part in pool.parts:
        if any(_meet(before[par], part.pars.get(par, 0), indices) for par, indices in wanted.items()):
            deals = _deals_of(storage, part)
            found = zip(places((deal["par"] for deal in deals), course, before), deals, strict=True)
            holes += [Hole(place.hole, **deal) for place, deal in found if place and place.round == number]
        before.update(part.pars)
        if len(holes) == len(course):
            return Round(pool.level, pool.generation, number, tuple(sorted(holes, key=attrgetter("hole"))))
    raise CheckError(_too_few(pool.level, number, before, course))


def _meet(first: int, count: int, indices: range) -> bool:
    """Whether any of so many indices, from a first one on, is among others."""
    return first < indices.stop and indices.start < first + count


def _deals_of(storage: Storage, part: Part) -> list[dict[str, Any]]:
    """What rounds tell of the deals of a part, in number order."""
    deals: list[dict[str, Any]] = read_named_part(storage, part, _COLUMNS).to_pylist()
    if Counter(deal["par"] for deal in deals) != part.pars:
        raise DamagedError(f"{part.path}: its pars are not those that the catalog says")
    return deals


def _too_few(level: str, number: int, counts: Mapping[int, int], course: Sequence[int]) -> str:
    """Why a round does not exist yet."""
    full = full_rounds(counts, course)
    missing = {par: (full + 1) * n - counts.get(par, 0) for par, n in sorted(Counter(course).items())}
    waits_for = ", ".join(f"{count} of par {par}" for par, count in missing.items() if count > 0)
    return (
        f"level {level} has no round {number} yet: its pool is enough for {full}, and the next one waits for"
        f" deals: {waits_for}; each night adds some"
    )
