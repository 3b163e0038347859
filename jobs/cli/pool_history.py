"""What a pool has been: `fairway pool history`, `diff`, `rollback` and `compact`."""

from typing import Annotated, Any, Final

import typer

from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, LevelName, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from pipeline.deals.levels import level_named
from pipeline.pools.catalog import Pool

_MOST_GENERATIONS: Final = 999_999_999  # as many as the path of a part has digits for
_MOST_CHANGES: Final = 1_000_000


def _generation_argument(name: str) -> Any:
    text = "The number of a generation; `pool history` lists them."
    return typer.Argument(metavar=name, min=1, max=_MOST_GENERATIONS, help=text, show_default=False)


def history(
    level: LevelName,
    limit: Annotated[
        int, number_option("--limit", "How many changes, the latest.", least=1, most=_MOST_CHANGES)
    ] = 20,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show the history of a level's pool.

    Its generations, and the changes of the catalog that made it what it is. Who made them and when is taken
    from the records of runs.

    Example: fairway pool history medium
    """
    from jobs.api.pools import level_history
    from jobs.cli.history_report import history_document, tell_history

    storage = storage_at(read_settings(config, data=data))
    found = level_history(storage, level_named(level).name, limit)
    if as_json:
        put_json(history_document(found))
    elif not found.total:
        say(f"the pool of level {found.level} is empty and has no history")
    else:
        tell_history(found)


def diff(
    level: LevelName,
    first: Annotated[int, _generation_argument("A")],
    second: Annotated[int, _generation_argument("B")],
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Compare two generations of a level.

    Their sizes, their pars, what the steady player makes of a deal drawn at random, and how many deals are in
    both.

    Example: fairway pool diff hard 1 2
    """
    from jobs.api.pools import two_generations
    from jobs.cli.history_report import difference_document, tell_difference
    from pipeline.pools.difference import difference

    name = level_named(level).name
    storage = storage_at(read_settings(config, data=data))
    found = difference(storage, *two_generations(storage, name, first, second))
    if as_json:
        put_json(difference_document(name, found))
    else:
        tell_difference(name, found)


def rollback(
    level: LevelName,
    to: Annotated[
        int | None,
        number_option(
            "--to", "The generation. Default: the one below that in force.", least=1, most=_MOST_GENERATIONS
        ),
    ] = None,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Return to an earlier generation.

    The pool is what it last was in that generation, and the next night goes on from there, with the nights
    that it lacks. The generation that is left stays, and --to goes forward to it again.

    Example: fairway pool rollback medium --to 1
    """
    from jobs.cli.history_report import pool_document
    from jobs.runs.pools import run_rollback

    settings = read_settings(config, data=data)
    storage = storage_at(settings)
    with shown_progress() as progress:
        done = run_rollback(storage, level_named(level).name, to, settings, job_context(settings, progress))
    pool, left = done.after, done.before.generation
    if as_json:
        put_json({**pool_document(pool), "left_generation": left})
        return
    if pool == done.before:
        say(f"nothing to do, level {pool.level} is at generation {pool.generation} already")
        return
    say(f"level {pool.level} is at generation {pool.generation} now: {pool.size:,} deals")
    say(f"the next night goes on from number {pool.next_number}; the last it has is {pool.last_night}")
    say(f"`fairway pool rollback {pool.level} --to {left}` goes to generation {left} again")


def compact(
    level: LevelName,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Merge a level's small parts.

    The many small parts of nights become parts of 10,000 deals. The deals stay the same; the old files stay
    until `fairway gc` removes them.

    Example: fairway pool compact easy
    """
    from jobs.cli.history_report import pool_document
    from jobs.runs.pools import run_compaction

    settings = read_settings(config, data=data)
    storage = storage_at(settings)
    with shown_progress() as progress:
        done = run_compaction(storage, level_named(level).name, settings, job_context(settings, progress))
    pool = done.after
    if as_json:
        put_json({**pool_document(pool), "parts_before": len(done.before.parts)})
        return
    if pool == done.before:
        say(f"nothing to do, level {pool.level} is compact already: {_parts_text(pool)}")
        return
    say(f"level {pool.level}: {_parts_text(done.before)} became {_parts_text(pool)}")
    say("the old files stay until `fairway gc` removes them")


def _parts_text(pool: Pool) -> str:
    noun = "part" if len(pool.parts) == 1 else "parts"
    return f"{len(pool.parts):,} {noun} with {pool.size:,} deals"
