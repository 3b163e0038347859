"""Common queries over synthetic pools, as `fairway query` runs them, and two commands.

Times are wall times. Opening (the catalog, the connection and its guard) is measured with a trivial query;
the time of a query is the difference to that, round by round.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from jobs.settings.load import processors
from pipeline.deals.levels import LEVELS
from pipeline.play.rounds import full_rounds
from pipeline.pools.catalog import Catalog, load_catalog
from pipeline.query.engine import run_query
from pipeline.store.storage import LocalStorage
from tests.benchmarks.command import fairway
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.synthetic import pools_of
from tests.benchmarks.timing import Spent, in_turn, process_clock, timed, wall_milliseconds

_Rows = list[tuple[Any, ...]]

_LEVEL: Final = "medium"
_ROUNDS: Final = 3  # rounds per round of the other subjects: a query is short
_NOTHING: Final = "select 1"
_PARS: Final = "select par, count(*) from deals group by par"
_LEVELS_AND_PARS: Final = "select level, par, count(*) from deals group by all"
_LOOK_UP: Final = "select * from deals where level = 'medium' and deal_number = {number}"
_LOOK_UP_ALL: Final = "select * from deals where deal_number = {number}"


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all sizes."""
    for rows in bench.pool_rows:
        bench.report(f"queries: making {rows:,} rows")
        storage, catalog = pools_of(bench, rows)
        bench.report(f"queries: {_ROUNDS * bench.rounds} rounds over {rows:,} rows")
        yield from _of_pools(storage, catalog, _ROUNDS * bench.rounds)


def _of_pools(storage: LocalStorage, catalog: Catalog, rounds: int) -> Iterator[Figure]:
    size = sum(pool.size for pool in catalog.pools)
    rows = f"{size:,} rows"
    number = min(pool.next_number for pool in catalog.pools) // 2  # in the middle of every level
    spent = in_turn(
        rounds,
        {
            "opening": partial(_answered, storage, _NOTHING, lambda rows: rows == [(1,)]),
            "group by par": partial(
                _answered, storage, _PARS, lambda rows: size == sum(row[1] for row in rows)
            ),
            "group by level and par": partial(
                _answered, storage, _LEVELS_AND_PARS, lambda rows: size == sum(row[2] for row in rows)
            ),
            "look-up by number": partial(
                _answered,
                storage,
                _LOOK_UP.format(number=number),
                lambda rows: [row[1] for row in rows] == [number],
            ),
            "look-up in all pools": partial(
                _answered,
                storage,
                _LOOK_UP_ALL.format(number=number),
                lambda rows: [row[1] for row in rows] == [number] * len(catalog.pools),
            ),
            "pool status": partial(_command, storage, "pool", "status"),
            "last round": partial(_command, storage, "round", _LEVEL, "--number", str(_rounds(catalog))),
        },
    )
    opening = spent["opening"]
    for name in ("group by par", "group by level and par", "look-up by number", "look-up in all pools"):
        own = tuple(whole - before for whole, before in zip(spent[name], opening, strict=True))
        yield Figure(f"{name}, {rows}", "ms", wall_milliseconds(own))
        yield Figure(f"{name} with opening, {rows}", "ms", wall_milliseconds(spent[name]))
    yield Figure(f"opening, {rows}", "ms", wall_milliseconds(opening))
    for name in ("pool status", "last round"):
        yield Figure(f"{name}, {rows}", "ms", wall_milliseconds(spent[name]))


def _answered(storage: LocalStorage, statement: str, is_right: Callable[[_Rows], bool]) -> Spent:
    """Run a query as the command does and read all rows.

    Raises:
        ValueError: if the answer is wrong, so that its time means nothing.
    """

    def work() -> _Rows:
        with run_query(storage, load_catalog(storage), statement, processors()) as answer:
            return [] if answer is None else list(answer.rows())

    rows, spent = timed(work, process_clock)
    if not is_right(rows):
        raise ValueError(f"the answer to {statement!r} is wrong: {len(rows)} rows, first {rows[:1]}")
    return spent


def _command(storage: LocalStorage, *arguments: str) -> Spent:
    _, spent = fairway(*arguments, "--data", storage.root)
    return spent


def _rounds(catalog: Catalog) -> int:
    """Return the number of rounds of a level."""
    return full_rounds(catalog.pool(_LEVEL).pars, LEVELS[_LEVEL].course)
