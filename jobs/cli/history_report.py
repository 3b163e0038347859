"""The history of a pool and the difference of two generations: documents for programs, text for people."""

from collections.abc import Callable, Collection, Iterator
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from jobs.api.pools import Entry, History
from jobs.terminal.output import say
from jobs.terminal.tables import put_table
from pipeline.pools.catalog import Pool
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, score_name

if TYPE_CHECKING:  # it reads Parquet, which takes longer to load than a history takes to tell
    from pipeline.pools.difference import Difference, Summary

_PARS: Final = (3, 4, 5)
_UNKNOWN: Final = "unknown"
_PERCENT: Final = 100
_NAMED: Final = range(-2, 3)  # against par: Eagle to Double bogey
_POOL_HEADINGS: Final = (("deals", True), ("parts", True), *((f"par {par}", True) for par in _PARS))


def pool_document(pool: Pool) -> dict[str, Any]:
    """A pool without its deals: keys in a fixed order."""
    return {
        "level": pool.level,
        "generation": pool.generation,
        "deals": pool.size,
        "parts": len(pool.parts),
        "next_number": pool.next_number,
        "last_night": pool.last_night.isoformat() if pool.last_night else None,
    }


def history_document(found: History) -> dict[str, Any]:
    """A history as a document; null for what is not known."""
    return {
        "level": found.level,
        "known_changes": found.total,
        "generations": [_entry_document(entry) for entry in found.generations],
        "changes": [_entry_document(entry) for entry in found.changes],
    }


def difference_document(level: str, found: "Difference") -> dict[str, Any]:
    """A difference as a document."""
    return {
        "level": level,
        "generations": [_summary_document(found.first), _summary_document(found.second)],
        "same_deal_numbers": found.same_numbers,
        "same_puzzles": found.same_puzzles,
    }


def tell_history(found: History) -> None:
    """Print a history for people."""
    put_table(
        [
            *(("generation", True), ("in force", False), *_POOL_HEADINGS),
            *(("next number", True), ("last night", False)),
        ],
        [(*_generation_cells(entry), *_pool_cells(entry), *_end_cells(entry)) for entry in found.generations],
    )
    say(f"\nchanges of the catalog that changed it: the last {len(found.changes):,} of {found.total:,}\n")
    put_table(
        [("change", True), ("made (UTC)", False), ("by", False), ("generation", True), *_POOL_HEADINGS],
        [(*_change_cells(entry), *_pool_cells(entry)) for entry in found.changes],
    )


def tell_difference(level: str, found: "Difference") -> None:
    """Print a difference for people."""
    both = (found.first, found.second)
    put_table(
        [(f"level {level}", False), *((f"generation {each.generation}", True) for each in both)],
        [(name, *map(cell, both)) for name, cell in _rows()],
    )
    say(f"\nin both: {found.same_numbers:,} deal numbers, {found.same_puzzles:,} puzzles")


def _rows() -> Iterator[tuple[str, Callable[["Summary"], str]]]:
    """What is compared: a name, and how it is shown for one of the two."""
    yield "deals", lambda each: f"{each.deals:,}"
    for par in _PARS:
        yield f"par {par}", _par_cell(par)
    yield "steady mean", lambda each: f"{each.mean:.3f}"
    yield "steady sd", lambda each: f"{each.sd:.3f}"
    yield "steady clears", lambda each: _share(each.clear_rate)
    yield "steady makes better", _chance_cell(range(LOWEST_SCORE - max(_PARS), _NAMED.start))
    for score in _NAMED:
        yield f"steady makes {score_name(score, 0)}", _chance_cell((score,))
    yield "steady makes worse", _chance_cell(range(_NAMED.stop, HIGHEST_SCORE))


def _par_cell(par: int) -> Callable[["Summary"], str]:
    return lambda each: f"{each.pars.get(par, 0):,} ({_share(each.pars.get(par, 0) / each.deals)})"


def _chance_cell(scores: Collection[int]) -> Callable[["Summary"], str]:
    """How likely these scores against par are."""
    return lambda each: _share(sum(each.against_par.get(score, 0.0) for score in scores))


def _generation_cells(entry: Entry) -> tuple[str, str]:
    return str(entry.state.pool.generation), "yes" if entry.state.in_force else ""


def _change_cells(entry: Entry) -> tuple[str, str, str, str]:
    change, generation = str(entry.state.change), str(entry.state.pool.generation)
    if entry.made is None:
        return change, _UNKNOWN, _UNKNOWN, generation
    return change, f"{entry.made.ended.astimezone(UTC):%Y-%m-%d %H:%M}", entry.made.job, generation


def _pool_cells(entry: Entry) -> tuple[str, ...]:
    pool = entry.state.pool
    mix = [f"{pool.pars.get(par, 0):,}" for par in _PARS]
    return (f"{pool.size:,}", f"{len(pool.parts):,}", *mix)


def _end_cells(entry: Entry) -> tuple[str, str]:
    return f"{entry.state.pool.next_number:,}", str(entry.state.pool.last_night or "none yet")


def _entry_document(entry: Entry) -> dict[str, Any]:
    return {
        "change": entry.state.change,
        "made": None if entry.made is None else entry.made.ended.astimezone(UTC).isoformat(),
        "job": None if entry.made is None else entry.made.job,
        "in_force": entry.state.in_force,
        **pool_document(entry.state.pool),
        "pars": {str(par): entry.state.pool.pars.get(par, 0) for par in _PARS},
    }


def _summary_document(summary: "Summary") -> dict[str, Any]:
    return {
        "generation": summary.generation,
        "deals": summary.deals,
        "pars": {str(par): summary.pars.get(par, 0) for par in _PARS},
        "steady_mean": summary.mean,
        "steady_sd": summary.sd,
        "steady_clear_rate": summary.clear_rate,
        "lowest_score": LOWEST_SCORE,
        "steady_scores": list(summary.score_distribution),
    }


def _share(share: float) -> str:
    return f"{share * _PERCENT:.1f} %"
