"""Rounds as somebody played them: put together from results on deals of a pool, in any order.

A deal of a pool has its place in one round. The k-th playing of a round is made of the k-th result on each of
its holes, so a round counts once the last of its holes is played, and again once all are played again.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.deals.levels import LEVELS, level_named
from pipeline.play.results import Played
from pipeline.play.rounds import Place, places
from pipeline.pools.catalog import Catalog, Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.storage import Storage

_COLUMNS: Final = ("deal_number", "par")


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A round that was played to its end.

    Attributes:
        level: name of the level.
        round: number of the round.
        score: all nine together.
        par: all nine together.
    """

    level: str
    round: int
    score: int
    par: int

    @property
    def against_par(self) -> int:
        """The score less the par."""
        return self.score - self.par

    @property
    def is_won(self) -> bool:
        """Whether it was played at par or better."""
        return self.score <= self.par


def played_rounds(results: Sequence[Played], storage: Storage, catalog: Catalog) -> tuple[PlayedRound, ...]:
    """The rounds that results make up: levels in their order, then by number, then as they were played.

    Only results on deals that are told by number count; Daily holes belong to no round.

    Args:
        results: in the order they were played.
        storage: the data root; it is only read.
        catalog: of the data root; a round is one of the generation in force.

    Raises:
        DamagedError: a part is not what the catalog says.
    """
    found: list[PlayedRound] = []
    for level in LEVELS.values():
        scores: dict[int, list[int]] = defaultdict(list)
        for played in results:
            if played.number is not None and played.hole.rules == level.rules:
                scores[played.number].append(played.score)
        if scores:
            found += rounds_in(level.name, scores, places_in(storage, catalog.pool(level.name), scores))
    return tuple(found)


def rounds_in(
    level: str, scores: Mapping[int, Sequence[int]], found: Mapping[int, Place]
) -> Iterator[PlayedRound]:
    """The rounds that scores make up.

    Args:
        level: name of the level.
        scores: on each deal number, in the order they were played.
        found: the places of these deal numbers, for those that have one.
    """
    holes: dict[int, list[Sequence[int]]] = defaultdict(list)
    for number, place in found.items():
        holes[place.round].append(scores[number])
    course = level_named(level).course
    for number in sorted(holes):
        if len(holes[number]) == len(course):
            for card in zip(*holes[number], strict=False):  # as often as the hole that was played least
                yield PlayedRound(level, number, sum(card), sum(course))


def best_of(rounds: Iterable[PlayedRound]) -> PlayedRound | None:
    """The round that is furthest under par, the first of them; None where there is none."""
    return min(rounds, key=lambda played: played.against_par, default=None)


def places_in(storage: Storage, pool: Pool, numbers: Collection[int]) -> dict[int, Place]:
    """Where deals of a pool are played; a number that has no place in it is not there.

    Only parts that can hold one of the numbers are read.

    Raises:
        DamagedError: a part is not what the catalog says.
    """
    course, wanted = level_named(pool.level).course, sorted(numbers)
    before: Counter[int] = Counter()
    found: dict[int, Place] = {}
    for part in pool.parts:
        if bisect_left(wanted, part.first) < bisect_left(wanted, part.last + 1):
            table = read_named_part(storage, part, _COLUMNS)
            of_deals = places(table["par"].to_pylist(), course, before)
            for number, place in zip(table["deal_number"].to_pylist(), of_deals, strict=True):
                if place is not None and number in numbers:
                    found[number] = place
        before.update(part.pars)
    return found
