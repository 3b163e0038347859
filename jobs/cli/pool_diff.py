"""`fairway pool diff`: compare two generations of a level."""

from collections.abc import Callable, Collection, Iterator
from typing import Annotated, Any, Final

import typer

from jobs.api.pools import PARS, policy_document, policy_text, two_generations
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import MAX_GENERATIONS, Config, Data, Json, LevelName
from jobs.terminal.output import put_json, say
from jobs.terminal.tables import put_table
from pipeline.pools.catalog import Pool
from pipeline.pools.difference import Difference, Summary, difference
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, score_name

_PERCENT: Final = 100
_NAMED: Final = range(-2, 3)  # against par: Eagle to Double bogey


def _generation_argument(name: str) -> Any:
    text = "Number of a generation; `pool history` lists them."
    return typer.Argument(metavar=name, min=1, max=MAX_GENERATIONS, help=text, show_default=False)


def diff(
    level: LevelName,
    first: Annotated[int, _generation_argument("A")],
    second: Annotated[int, _generation_argument("B")],
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Compare two generations of a level.

    Compares their sizes, their pars, the steady player's scores on a random deal, and the deals in both.

    Example: fairway pool diff hard 1 2
    """
    name = level
    storage = storage_at(read_settings(config, data=data))
    pools = two_generations(storage, name, first, second)
    found = difference(storage, *pools)
    if as_json:
        put_json(_difference_document(name, found, pools))
    else:
        _print_difference(name, found)
        for pool in pools:
            say(f"generation {pool.generation}: {policy_text(pool)}")


def _difference_document(level: str, found: Difference, pools: tuple[Pool, Pool]) -> dict[str, Any]:
    return {
        "level": level,
        "generations": [
            {**_summary_document(summary), "policy": policy_document(pool.policy), "note": pool.note}
            for summary, pool in zip((found.first, found.second), pools, strict=True)
        ],
        "same_deal_numbers": found.same_numbers,
        "same_puzzles": found.same_puzzles,
    }


def _summary_document(summary: Summary) -> dict[str, Any]:
    return {
        "generation": summary.generation,
        "deals": summary.deals,
        "pars": {str(par): summary.pars.get(par, 0) for par in PARS},
        "steady_mean": summary.mean,
        "steady_sd": summary.sd,
        "steady_clear_rate": summary.clear_rate,
        "lowest_score": LOWEST_SCORE,
        "steady_scores": list(summary.score_distribution),
    }


def _print_difference(level: str, found: Difference) -> None:
    both = (found.first, found.second)
    put_table(
        [(f"level {level}", False), *((f"generation {each.generation}", True) for each in both)],
        [(name, *map(cell, both)) for name, cell in _rows()],
    )
    say(f"\nin both: {found.same_numbers:,} deal numbers, {found.same_puzzles:,} puzzles")


def _rows() -> Iterator[tuple[str, Callable[[Summary], str]]]:
    """Yield the name of each row, and the function that formats its cell for a generation."""
    yield "deals", lambda each: f"{each.deals:,}"
    for par in PARS:
        yield f"par {par}", _par_cell(par)
    yield "steady mean", lambda each: f"{each.mean:.3f}"
    yield "steady sd", lambda each: f"{each.sd:.3f}"
    yield "steady clears", lambda each: _share(each.clear_rate)
    yield "steady makes better", _chance_cell(range(LOWEST_SCORE - max(PARS), _NAMED.start))
    for score in _NAMED:
        yield f"steady makes {score_name(score, 0)}", _chance_cell((score,))
    yield "steady makes worse", _chance_cell(range(_NAMED.stop, HIGHEST_SCORE))


def _par_cell(par: int) -> Callable[[Summary], str]:
    return lambda each: f"{each.pars.get(par, 0):,} ({_share(each.pars.get(par, 0) / each.deals)})"


def _chance_cell(scores: Collection[int]) -> Callable[[Summary], str]:
    """Format the chance of these scores against par."""
    return lambda each: _share(sum(each.against_par.get(score, 0.0) for score in scores))


def _share(share: float) -> str:
    return f"{share * _PERCENT:.1f} %"
