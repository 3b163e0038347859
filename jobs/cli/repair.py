"""`fairway repair`: restore damaged and missing files to the same bytes, or say why that is not possible."""

from typing import Annotated, Any, Final

import typer

from jobs.runs.others import dry_run_repair, run_repair
from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, Workers
from jobs.terminal.outcome import DONE, FAILED
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from jobs.watch.logs import message_line
from pipeline.integrity.dry_run import RepairLog

_REPAIRED: Final = "repaired    "
_REPAIRABLE: Final = "can repair  "
_REFUSED: Final = "REFUSED     "


def repair(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be repaired; change nothing.")
    ] = False,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> int:
    """Restore damaged or missing files.

    Each file is made again from deal numbers, dates and cards, and written only if it has the recorded hash.
    The exit code is 1 if a file cannot be restored.

    Example: fairway repair --dry-run
    """
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    with shown_progress() as progress:
        run = dry_run_repair if dry_run else run_repair
        log = run(storage, settings, job_context(settings, progress))
    if as_json:
        put_json(_document(log, dry_run=dry_run))
    else:
        _print(log, dry_run=dry_run)
    return FAILED if log.refused else DONE


def _document(log: RepairLog, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "mended": [{"file": found.file, "what": found.what} for found in log.repaired],
        "refused": [{"file": found.file, "what": found.what} for found in log.refused],
    }


def _print(log: RepairLog, *, dry_run: bool) -> None:
    for found in log.repaired:
        say(f"{_REPAIRABLE if dry_run else _REPAIRED}{message_line(str(found))}")
    for found in log.refused:
        say(f"{_REFUSED}{message_line(str(found))}")
    if not log.repaired and not log.refused:
        say("nothing to repair: every file has its recorded hash; `fairway verify` also checks the contents")
        return
    done = "can be repaired; nothing was changed" if dry_run else "repaired"
    refused = f"; {_files(len(log.refused))} refused" if log.refused else ""
    say(f"\n{_files(len(log.repaired))} {done}{refused}")


def _files(count: int) -> str:
    return f"{count:,} file" if count == 1 else f"{count:,} files"
