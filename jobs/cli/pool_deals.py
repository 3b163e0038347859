"""`fairway pool show` and `export`: list a pool's deals, or write them for game clients."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jobs.settings.model import Settings
from jobs.terminal import clock
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, LevelName, Workers, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.tables import put_table
from pipeline.deals.levels import MAX_DEALS
from pipeline.pools.catalog import Catalog, load_catalog
from pipeline.pools.export import KEEP_DAYS, export_pool
from pipeline.query.engine import run_query
from pipeline.store.storage import LocalStorage

_SHOWN: Final = ("deal_number", "par", "best_score", "draws", "steady_mean", "steady_clear_rate", "line")


def show(
    level: LevelName,
    limit: Annotated[int, number_option("--limit", "Number of deals.", least=1, most=MAX_DEALS)] = 10,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """List the first deals of a level.

    These are the deals with the lowest numbers.

    Example: fairway pool show medium --limit 20
    """
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    catalog = load_catalog(storage)
    # Both values are checked: the name is that of a level with a pool, and the limit is a number.
    name = catalog.pool(level).level
    statement = f"from deals where level = '{name}' order by deal_number limit {limit}"
    columns = "*" if as_json else ", ".join(_SHOWN)
    names, rows = _queried(storage, catalog, f"select {columns} {statement}", settings)
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


def export(
    level: LevelName,
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Directory: a new one or an earlier export."),
    ],
    keep_days: Annotated[
        int,
        number_option("--keep-days", "Days that superseded files stay for clients.", least=0, most=36_500),
    ] = KEEP_DAYS,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Export a level's pool for game clients.

    Writes JSON files of 500 deals each and an index. The same pool always gives the same bytes. Files that
    an earlier index named stay for a while, because clients may still have that index.

    Example: fairway pool export easy -o easy-deals
    """
    name = level
    storage = storage_at(read_settings(config, data=data))
    exported = export_pool(storage, load_catalog(storage).pool(name), folder, clock.today(), keep_days)
    if as_json:
        put_json(
            {"level": name, "deals": exported.deals, "shards": list(exported.shards), "folder": str(folder)}
        )
        return
    shards = "1 file" if len(exported.shards) == 1 else f"{len(exported.shards):,} files"
    say(f"{exported.deals:,} deals of level {name} in {shards} and an index: {folder}")


def _queried(
    storage: LocalStorage, catalog: Catalog, statement: str, settings: Settings
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    with run_query(storage, catalog, statement, settings.workers) as answer:
        return (answer.names, list(answer.rows())) if answer is not None else ((), [])


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
