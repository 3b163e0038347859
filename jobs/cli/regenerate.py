"""`fairway pool regenerate`: make a new generation of a level's pool."""

from typing import Annotated

import typer

from jobs.api.pools import policy_document
from jobs.cli.preview import level_with
from jobs.runs.regeneration import RegenerationRequest, run_regeneration
from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import Changes, Config, Data, Json, LevelName, Workers, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from pipeline.deals.levels import MAX_DEALS
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.pools.catalog import MAX_NOTE
from solver.errors import UsageError


def regenerate(
    level: LevelName,
    size: Annotated[
        int | None,
        number_option("--size", "Number of deals. Default: as many as now.", least=1, most=MAX_DEALS),
    ] = None,
    first: Annotated[
        int | None,
        number_option(
            "--from-number",
            "First deal number to sample. Default: that of the current pool.",
            least=0,
            most=MOST_DEAL_NUMBER,
        ),
    ] = None,
    changes: Changes = None,
    note: Annotated[
        str,
        typer.Option("--note", metavar="TEXT", help="What the history says of it.", show_default=False),
    ] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin with the next number of the current pool.")
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

    The new generation is made by the policy in the settings, changed by `--set`, and nights grow it by that
    policy. `fairway pool preview` shows beforehand what it admits.

    The new pool replaces the old one in one step when it is complete. If the command is stopped, the same
    command resumes it, or says that the new pool was already complete; then the next one makes another.

    Example: fairway pool regenerate hard --size 2000 --fresh
    """
    settings = read_settings(config, data=data, workers=workers)
    if fresh and first is not None:
        raise UsageError("--fresh cannot be combined with --from-number; give one of them")
    storage = storage_at(settings)
    wanted = level_with(settings, level, changes, storage)
    if len(note) > MAX_NOTE or not note.isprintable():
        raise UsageError(f"the note must be one line of at most {MAX_NOTE} characters")
    request = RegenerationRequest(wanted, size, first, fresh, restart, note)
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
                "was_done": report.was_done,
                "policy": policy_document(wanted.policy),
                "note": note,
            }
        )
        return
    if report.was_done:
        say(
            f"level {report.level} was already at generation {report.generation}: an earlier run made its"
            f" {report.size:,} deals from number {report.first} on, and was stopped at its end"
        )
        return
    say(f"level {report.level} is now at generation {report.generation}: {report.size:,} deals")
    say(f"admits {wanted.policy.admits_text}")
    say(f"sampled from number {report.first} to {report.last}, in {report.seconds:.1f} s")
