"""`fairway repair`: what damage has taken is made again from numbers and dates, or refused."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jobs.terminal.context import read_settings, storage_at, tools_with
from jobs.terminal.options import Config, Data, Json, Workers
from jobs.terminal.outcome import DONE, FAILED
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress

if TYPE_CHECKING:  # it takes longer to load than help takes to print
    from pipeline.integrity.dry_run import Mending

_MENDED: Final = "mended    "
_MENDABLE: Final = "can mend  "
_REFUSED: Final = "REFUSED   "


def repair(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be mended, and change nothing.")
    ] = False,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> int:
    """Regenerate damaged or missing files.

    Parts, solutions, the index and the views come from the numbers and the cards; a daily comes back where
    its date gives the very bytes that the index hashed. What cannot be known is refused, never invented, and
    the exit code is 1 then.

    Example: fairway repair --dry-run
    """
    from jobs.runs.repairing import rehearse_repair, run_repair

    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    with shown_progress() as progress:
        run = rehearse_repair if dry_run else run_repair
        mending = run(storage, settings, tools_with(settings, progress))
    if as_json:
        put_json(_document(mending, dry_run=dry_run))
    else:
        _tell(mending, dry_run=dry_run)
    return FAILED if mending.refused else DONE


def _document(mending: "Mending", *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "mended": [{"file": found.file, "what": found.what} for found in mending.mended],
        "refused": [{"file": found.file, "what": found.what} for found in mending.refused],
    }


def _tell(mending: "Mending", *, dry_run: bool) -> None:
    for found in mending.mended:
        say(f"{_MENDABLE if dry_run else _MENDED}{found}")
    for found in mending.refused:
        say(f"{_REFUSED}{found}")
    mended, refused = len(mending.mended), len(mending.refused)
    if not mended and not refused:
        say("nothing to do, every file has the hash on record; `fairway verify` looks at what is in them")
        return
    how = "can be mended; nothing was changed" if dry_run else "mended"
    say(f"\n{_files(mended)} {how}" + (f"; {_files(refused)} refused" if refused else ""))


def _files(count: int) -> str:
    return f"{count:,} file" if count == 1 else f"{count:,} files"
