"""`fairway pool status` and `history`; both read only catalogs and run records, so they start quickly."""

from typing import Annotated, Any, Final

from jobs.api.pools import level_history
from jobs.cli.history_report import history_document, tell_history
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, LevelName, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.tables import put_table
from pipeline.deals.levels import level_named
from pipeline.pools.catalog import Pool, load_catalog

_PARS: Final = (3, 4, 5)
_MAX_CHANGES: Final = 1_000_000


def status(data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """Show the size, pars and progress of each pool.

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
            *((f"par {par}", True) for par in _PARS),
            ("generation", True),
            ("next number", True),
            ("last night", False),
        ],
        [
            (
                row["level"],
                f"{row['deals']:,}",
                *(f"{row['pars'][str(par)]:,}" for par in _PARS),
                str(row["generation"]),
                f"{row['next_number']:,}",
                row["last_night"] or "none yet",
            )
            for row in rows
        ],
    )


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
    found = level_history(storage, level_named(level).name, limit)
    if as_json:
        put_json(history_document(found))
    elif not found.total:
        say(f"the pool of level {found.level} is empty and has no history")
    else:
        tell_history(found)


def _status(pool: Pool) -> dict[str, Any]:
    return {
        "level": pool.level,
        "deals": pool.size,
        "pars": {str(par): pool.pars.get(par, 0) for par in _PARS},
        "generation": pool.generation,
        "parts": len(pool.parts),
        "next_number": pool.next_number,
        "last_night": pool.last_night.isoformat() if pool.last_night else None,
    }
