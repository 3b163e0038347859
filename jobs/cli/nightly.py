"""`fairway nightly`: run the nightly job once and print what it did."""

import logging
import shlex
import sys
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from jobs.days import check_not_future
from jobs.runs.nightly import NightReport, check_clock, run_night
from jobs.terminal import clock
from jobs.terminal.context import job_context, read_settings, storage_at, warn_without_key
from jobs.terminal.log import start_log
from jobs.terminal.options import AllowFuture, AllowMany, Config, Data, Json, LogFormat, Workers, day_option
from jobs.terminal.output import put_json, say, typed_name
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table
from jobs.watch.logs import log
from pipeline.daily.calendar import hole_number

PAR_QUERY = "select level, par, count(*) from deals group by all order by all"


def nightly(
    day: Annotated[date | None, day_option("--date", "The night to reach. Default: today in UTC.")] = None,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    allow_future: AllowFuture = False,
    allow_many: AllowMany = False,
    log_format: LogFormat = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing if there is nothing to do, as cron wants it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a night's deals and publish Daily holes.

    Nights missed since the last one are added too. Existing deals and holes never change.

    Example: fairway nightly --date 2026-11-30
    """
    settings = read_settings(config, data=data, workers=workers, log_format=log_format)
    night = day or clock.today()
    if day is not None:
        hole_number(day)
    if not allow_future:
        check_not_future(night, clock.today(), 0, "--date")
    storage = storage_at(settings, create=True)
    if day is None:
        check_clock(storage, night, settings)
    # A terminal shows progress bars and then the report.
    least = logging.WARNING if quiet or sys.stderr.isatty() else logging.INFO
    start_log(settings.log_format, least=least)
    with shown_progress(write=log.info) as progress:
        report = run_night(storage, night, settings, job_context(settings, progress), allow_many=allow_many)
    if report.dailies:
        warn_without_key(settings)
    if quiet and report.is_nothing:
        return
    if as_json:
        put_json(_document(report, storage.root))
        return
    _print(report, storage.root)
    if not report.is_nothing:
        _suggest(data)


def _document(report: NightReport, root: Path) -> dict[str, object]:
    return {
        "night": report.night.isoformat(),
        "nights": [night.isoformat() for night in report.nights],
        "levels": [
            {"level": level.level, "sampled": level.sampled, "added": level.added, "deals": level.size}
            for level in report.levels
        ],
        "dailies": [day.isoformat() for day in report.dailies],
        "solutions": report.solutions,
        "published": report.published,
        "seconds": report.seconds,
        "data": str(root),
    }


def _print(report: NightReport, root: Path) -> None:
    if report.is_nothing:
        say(f"night {report.night}: nothing to do")
    else:
        say(f"night {report.night}: done in {report.seconds:.1f} s")
    say()
    put_table(
        [("level", False), ("shuffles sampled", True), ("deals added", True), ("deals now", True)],
        [
            (level.level, f"{level.sampled:,}", f"{level.added:,}", f"{level.size:,}")
            for level in report.levels
        ],
    )
    say()
    span = f", {report.dailies[0]} to {report.dailies[-1]}" if report.dailies else ""
    say(f"Daily holes: {len(report.dailies):,} published{span}; {report.published:,} in all")
    if report.solutions:
        say(f"solutions:   {report.solutions:,} released, as their dates are over")
    say(f"data root:   {root}")


def _suggest(data: Path | None) -> None:
    """Print two commands to try next, as typed for this data root."""
    where = "" if data is None else f" --data {shlex.quote(str(data))}"
    name = typed_name()
    say("\nTry next:")
    say(f'  {name} query{where} "{PAR_QUERY}"')
    say(f"  {name} daily show{where}")
