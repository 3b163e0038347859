"""`fairway round`: nine deals of a level that are played one after another."""

from typing import Annotated

from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, LevelName, round_option
from jobs.terminal.output import put_json, put_table, say
from pipeline.deals.levels import level_named
from pipeline.pools.catalog import load_catalog


def show_round(
    level: LevelName,
    number: Annotated[int, round_option()],
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the nine deals of a round.

    A round has the pars of the level's course, and stays what it is while the pool grows.

    Example: fairway round medium --number 1
    """
    from pipeline.play.rounds import round_of  # it reads Parquet

    name = level_named(level).name
    storage = storage_at(read_settings(config, data=data))
    found = round_of(storage, load_catalog(storage).pool(name), number)
    if as_json:
        put_json(found.document())
        return
    say(f"{found.title}: par {found.par}, best score {found.best_score}\n")
    put_table(
        [("hole", True), ("deal number", True), ("par", True), ("best score", True)],
        [
            (str(hole.hole), str(hole.deal_number), str(hole.par), str(hole.best_score))
            for hole in found.holes
        ],
    )
