"""`fairway pool status` and `history`, which start quickly: they read only catalogs and run records."""

from datetime import UTC
from typing import Annotated, Any, Final

from jobs.api.pools import PARS, Entry, History, history_document, level_history, policy_document, policy_text
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, LevelName, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.tables import put_table
from pipeline.pools.catalog import Pool, load_catalog

_UNKNOWN: Final = "unknown"
_POOL_HEADINGS: Final = (("deals", True), ("parts", True), *((f"par {par}", True) for par in PARS))
_MAX_CHANGES: Final = 1_000_000


def status(data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """Show the size, pars, progress and policy of each pool.

    Example: fairway pool status
    """
    storage = storage_at(read_settings(config, data=data))
    pools = load_catalog(storage).pools
    rows = [_status(pool) for pool in pools]
    if as_json:
        put_json({"levels": rows})
        return
    put_table(
        [
            ("level", False),
            ("deals", True),
            *((f"par {par}", True) for par in PARS),
            ("generation", True),
            ("next number", True),
            ("last night", False),
        ],
        [
            (
                row["level"],
                f"{row['deals']:,}",
                *(f"{row['pars'][str(par)]:,}" for par in PARS),
                str(row["generation"]),
                f"{row['next_number']:,}",
                row["last_night"] or "none yet",
            )
            for row in rows
        ],
    )
    say()
    for pool in pools:
        say(f"{pool.level}: {policy_text(pool)}")


def history(
    level: LevelName,
    limit: Annotated[
        int, number_option("--limit", "Number of changes to list, latest last.", least=1, most=_MAX_CHANGES)
    ] = 20,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show the history of a level's pool.

    Lists its generations and the changes of the catalog, with the run that made each of them.

    Example: fairway pool history medium
    """
    storage = storage_at(read_settings(config, data=data))
    found = level_history(storage, level, limit)
    if as_json:
        put_json(history_document(found))
    elif not found.total:
        say(f"the pool of level {found.level} is empty and has no history")
    else:
        _print_history(found)


def _status(pool: Pool) -> dict[str, Any]:
    return {
        "level": pool.level,
        "deals": pool.size,
        "pars": {str(par): pool.pars.get(par, 0) for par in PARS},
        "generation": pool.generation,
        "parts": len(pool.parts),
        "next_number": pool.next_number,
        "last_night": pool.last_night.isoformat() if pool.last_night else None,
        "policy": policy_document(pool.policy),
        "note": pool.note,
    }


def _print_history(found: History) -> None:
    put_table(
        [
            *(("generation", True), ("in force", False), *_POOL_HEADINGS),
            *(("next number", True), ("last night", False)),
        ],
        [(*_generation_cells(entry), *_pool_cells(entry), *_end_cells(entry)) for entry in found.generations],
    )
    say()
    for entry in found.generations:
        pool = entry.state.pool
        say(f"generation {pool.generation}: {policy_text(pool)}")
    say(f"\nchanges to the pool: the last {len(found.changes):,} of {found.total:,}\n")
    put_table(
        [("change", True), ("made (UTC)", False), ("by", False), ("generation", True), *_POOL_HEADINGS],
        [(*_change_cells(entry), *_pool_cells(entry)) for entry in found.changes],
    )


def _generation_cells(entry: Entry) -> tuple[str, str]:
    return str(entry.state.pool.generation), "yes" if entry.state.in_force else ""


def _change_cells(entry: Entry) -> tuple[str, str, str, str]:
    change, generation = str(entry.state.change), str(entry.state.pool.generation)
    if entry.made is None:
        return change, _UNKNOWN, _UNKNOWN, generation
    return change, f"{entry.made.ended.astimezone(UTC):%Y-%m-%d %H:%M}", entry.made.job, generation


def _pool_cells(entry: Entry) -> tuple[str, ...]:
    pool = entry.state.pool
    mix = [f"{pool.pars.get(par, 0):,}" for par in PARS]
    return (f"{pool.size:,}", f"{len(pool.parts):,}", *mix)


def _end_cells(entry: Entry) -> tuple[str, str]:
    return f"{entry.state.pool.next_number:,}", str(entry.state.pool.last_night or "none yet")
