"""`fairway pool rollback` and `compact`, which start quickly: they solve no deals."""

from typing import Annotated

from jobs.api.pools import pool_document
from jobs.runs.pools import run_compaction, run_rollback
from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import MAX_GENERATIONS, Config, Data, Json, LevelName, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from pipeline.pools.catalog import Pool


def rollback(
    level: LevelName,
    to: Annotated[
        int | None,
        number_option(
            "--to",
            "Generation to return to. Default: the previous one.",
            least=1,
            most=MAX_GENERATIONS,
        ),
    ] = None,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Return to an earlier generation.

    Restores the pool as it last was in that generation. The next night continues from there and adds the
    nights that it lacks. The current generation is kept, and --to returns to it.

    Example: fairway pool rollback medium --to 1
    """
    settings = read_settings(config, data=data)
    storage = storage_at(settings)
    with shown_progress() as progress:
        done = run_rollback(storage, level, to, settings, job_context(settings, progress))
    pool, left = done.after, done.before.generation
    if as_json:
        put_json({**pool_document(pool), "left_generation": left})
        return
    if pool == done.before:
        say(f"nothing to do: level {pool.level} is already at generation {pool.generation}")
        return
    say(f"level {pool.level} is now at generation {pool.generation}: {pool.size:,} deals")
    say(f"the next night continues from number {pool.next_number}; the last night is {pool.last_night}")
    say(f"`fairway pool rollback {pool.level} --to {left}` returns to generation {left}")


def compact(
    level: LevelName,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Merge a level's small parts.

    Merges the small parts of nights into parts of 10,000 deals. The deals do not change. The old files are
    kept until `fairway gc` removes them.

    Example: fairway pool compact easy
    """
    settings = read_settings(config, data=data)
    storage = storage_at(settings)
    with shown_progress() as progress:
        done = run_compaction(storage, level, settings, job_context(settings, progress))
    pool = done.after
    if as_json:
        put_json({**pool_document(pool), "parts_before": len(done.before.parts)})
        return
    if pool == done.before:
        say(f"nothing to do: level {pool.level} is already compact, {_parts_text(pool)}")
        return
    say(f"level {pool.level}: {_parts_text(done.before)} became {_parts_text(pool)}")
    say("the old files are kept until `fairway gc` removes them")


def _parts_text(pool: Pool) -> str:
    noun = "part" if len(pool.parts) == 1 else "parts"
    return f"{len(pool.parts):,} {noun} with {pool.size:,} deals"
