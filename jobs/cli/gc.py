"""`fairway gc`: removes files that the catalogs no longer need."""

from collections import Counter
from typing import Annotated, Any, Final

import typer

from jobs.runs.pools import GcPlan, plan_gc, run_gc
from jobs.terminal import clock
from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table

_MAX_KEPT: Final = 1_000_000
_MAX_DAYS: Final = 36_500
_MEGABYTE: Final = 1e6


def gc(
    keep: Annotated[
        int | None,
        number_option(
            "--keep",
            "Number of earlier catalogs to keep. Default: the `keep_catalogs` setting.",
            least=0,
            most=_MAX_KEPT,
        ),
    ] = None,
    days: Annotated[
        int | None,
        number_option(
            "--older-than",
            "Keep catalogs replaced within this many days too. Default: the `keep_days` setting.",
            least=0,
            most=_MAX_DAYS,
        ),
    ] = None,
    record_days: Annotated[
        int | None,
        number_option(
            "--keep-records",
            "Number of days to keep run records. Default: the `keep_records` setting.",
            least=1,
            most=_MAX_DAYS,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report what would be removed without removing it.")
    ] = False,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Remove files that are no longer needed.

    Removes earlier catalogs that are neither among the latest nor recent, and the parts that only they use;
    `pool rollback` can no longer return to their generations. Old run records are removed too. The current
    pools and Daily holes are never touched.

    Example: fairway gc --keep 30 --older-than 30 --dry-run
    """
    settings = read_settings(config, data=data, keep_catalogs=keep, keep_days=days, keep_records=record_days)
    storage = storage_at(settings)
    if dry_run:
        found = plan_gc(storage, settings, clock.now())
    else:
        with shown_progress() as progress:
            found = run_gc(storage, settings, job_context(settings, progress))
    if as_json:
        put_json(_document(found, dry_run=dry_run))
    else:
        _print_plan(found, dry_run=dry_run)


def _document(found: GcPlan, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "catalogs": list(found.garbage.catalogs),
        "parts": list(found.garbage.parts),
        "records": list(found.records),
        "bytes": found.total,
        "young_catalogs": found.garbage.young,
    }


def _print_plan(found: GcPlan, *, dry_run: bool) -> None:
    garbage = found.garbage
    if garbage.young:
        say(f"{garbage.young:,} more earlier catalogs are kept: they are recent, or their age is unknown")
    if not found.paths:
        say("nothing to do")
        return
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in found.paths:
        folder = path.rpartition("/")[0]
        files[folder] += 1
        sizes[folder] += found.sizes[path]
    put_table(
        [("folder", False), ("files", True), ("MB", True)],
        [(folder, f"{count:,}", f"{sizes[folder] / _MEGABYTE:,.1f}") for folder, count in files.items()],
    )
    total = f"{len(found.paths):,} files with {found.total / _MEGABYTE:,.1f} MB"
    if dry_run:
        say(f"\n{total} would be removed; nothing was changed")
    else:
        say(f"\n{total} removed")
