"""`fairway gc`: files that nothing points to any more are cleared away."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jobs.terminal import clock
from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, number_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table

if TYPE_CHECKING:  # it takes longer to load than help takes to print
    from jobs.runs.pools import GcPlan

_MOST_KEPT: Final = 1_000_000
_MOST_DAYS: Final = 36_500
_MEGABYTE: Final = 1e6


def gc(
    keep: Annotated[
        int | None,
        number_option(
            "--keep",
            "How many earlier catalogs stay, the latest. Default: the setting keep_catalogs, 30.",
            least=0,
            most=_MOST_KEPT,
        ),
    ] = None,
    days: Annotated[
        int | None,
        number_option(
            "--older-than",
            "Days; a catalog that was replaced later than so many days ago stays too. Default: the setting"
            " keep_days, 30.",
            least=0,
            most=_MOST_DAYS,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would go, and change nothing.")
    ] = False,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Remove files that are no longer needed.

    Earlier catalogs go when they are neither among the latest nor young, and with them the parts that only
    they name; then the generations in them can no longer be gone back to. What `pool status` shows always
    stays, and Daily holes are never touched.

    Example: fairway gc --keep 30 --older-than 30 --dry-run
    """
    from jobs.runs.pools import Retention, plan_gc, run_gc

    settings = read_settings(config, data=data, keep_catalogs=keep, keep_days=days)
    storage = storage_at(settings)
    wanted = Retention(settings.keep_catalogs, settings.keep_days)
    if dry_run:
        found = plan_gc(storage, wanted, clock.now())
    else:
        with shown_progress() as progress:
            found = run_gc(storage, wanted, settings, job_context(settings, progress))
    if as_json:
        put_json(_document(found, dry_run=dry_run))
    else:
        _tell(found, dry_run=dry_run)


def _document(found: "GcPlan", *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "catalogs": list(found.garbage.catalogs),
        "parts": list(found.garbage.parts),
        "bytes": found.total,
        "young_catalogs": found.garbage.young,
    }


def _tell(found: "GcPlan", *, dry_run: bool) -> None:
    garbage = found.garbage
    if garbage.young:
        say(f"{garbage.young:,} more earlier catalogs stay: they are young, or nobody knows how old")
    if not garbage.paths:
        say("nothing to do")
        return
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in garbage.paths:
        folder = path.rpartition("/")[0]
        files[folder] += 1
        sizes[folder] += found.sizes[path]
    put_table(
        [("folder", False), ("files", True), ("MB", True)],
        [(folder, f"{count:,}", f"{sizes[folder] / _MEGABYTE:,.1f}") for folder, count in files.items()],
    )
    total = f"{len(garbage.paths):,} files with {found.total / _MEGABYTE:,.1f} MB"
    if dry_run:
        say(f"\n{total} would be removed; nothing was changed")
    else:
        say(f"\n{total} removed")
