"""`fairway pool`: what the pools hold and held, one of them made anew, one of them for a game client."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import MAX_DEALS, Config, Data, Json, LevelName, Workers, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table
from pipeline.deals.levels import level_named
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.pools.catalog import Catalog, Pool, load_catalog
from pipeline.store.storage import LocalStorage

if TYPE_CHECKING:  # pydantic takes longer to load than help takes to print
    from jobs.settings.model import Settings

_PARS: Final = (3, 4, 5)
_SHOWN: Final = ("deal_number", "par", "best_score", "draws", "steady_mean", "steady_clear_rate", "line")


def status(data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """Show the size, pars and progress of each pool.

    Also their mix of pars, and how far they have come.

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


def show(
    level: LevelName,
    limit: Annotated[int, number_option("--limit", "How many deals.", least=1, most=MAX_DEALS)] = 10,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """List the first deals of a level.

    Those with the lowest numbers.

    Example: fairway pool show medium --limit 20
    """
    name = level_named(level).name
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    # The name is one of ours, and the limit a number.
    statement = f"from deals where level = '{name}' order by deal_number limit {limit}"
    columns = "*" if as_json else ", ".join(_SHOWN)
    names, rows = _asked(storage, load_catalog(storage), f"select {columns} {statement}", settings)
    if as_json:
        put_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    if not rows:
        say(f"the pool of level {name} is empty")
        return
    put_table(
        [(column.replace("_", " "), column != "line") for column in names],
        [[_cell(value) for value in row] for row in rows],
    )


def regenerate(
    level: LevelName,
    size: Annotated[
        int | None,
        number_option("--size", "How many deals. Default: as many as now.", least=1, most=MAX_DEALS),
    ] = None,
    first: Annotated[
        int | None,
        number_option(
            "--from-number",
            "First deal number to sample. Default: the first of the pool as it is.",
            least=0,
            most=MOST_DEAL_NUMBER,
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin with the first number that was never sampled for it.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Drop an unfinished regeneration instead of resuming it.")
    ] = False,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Regenerate a level's pool.

    It is made beside the old one, with a switch in one step at the end. One that was stopped is resumed
    by the same command.

    Example: fairway pool regenerate hard --size 2000 --fresh
    """
    from jobs.runs.pools import RegenerationRequest, run_regeneration

    request = RegenerationRequest(level_named(level).name, size, first, fresh, restart)
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    with shown_progress() as progress:
        report = run_regeneration(storage, request, settings, job_context(settings, progress))
    if as_json:
        put_json(
            {
                "level": report.level,
                "generation": report.generation,
                "first": report.first,
                "last": report.last,
                "deals": report.size,
                "seconds": report.seconds,
            }
        )
        return
    say(f"level {report.level} is now at generation {report.generation}: {report.size:,} deals")
    say(f"sampled from number {report.first} to {report.last}, in {report.seconds:.1f} s")


def export(
    level: LevelName,
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="A new folder or an earlier export."),
    ],
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Export a level's pool for game clients.

    JSON files of 500 deals and an index of them; the same pool gives the same bytes.

    Example: fairway pool export easy -o easy-deals
    """
    from pipeline.pools.export import export_pool

    name = level_named(level).name
    storage = storage_at(read_settings(config, data=data))
    exported = export_pool(storage, load_catalog(storage).pool(name), folder)
    if as_json:
        put_json(
            {"level": name, "deals": exported.deals, "shards": list(exported.shards), "folder": str(folder)}
        )
        return
    shards = "1 file" if len(exported.shards) == 1 else f"{len(exported.shards):,} files"
    say(f"{exported.deals:,} deals of level {name} in {shards} and an index: {folder}")


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


def _asked(
    storage: LocalStorage, catalog: Catalog, statement: str, settings: "Settings"
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    from pipeline.query.engine import run_query

    with run_query(storage, catalog, statement, settings.workers) as answer:
        return (answer.names, list(answer.rows())) if answer is not None else ((), [])


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
