"""`fairway daily publish`: publishes Daily holes outside a night."""

from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from jobs.days import check_not_future, days_between
from jobs.runs.nightly import check_clock
from jobs.runs.others import run_publish
from jobs.terminal import clock
from jobs.terminal.context import job_context, read_settings, storage_at, warn_without_key
from jobs.terminal.options import AllowFuture, AllowMany, Config, Data, Json, Workers, day_option
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from solver.errors import UsageError


class Solutions(StrEnum):
    """When to publish the solution of a hole."""

    WHEN_OVER = "when-over"
    NOW = "now"


def publish(
    first: Annotated[
        date | None, day_option("--from", "First date. Default: the `daily_from` setting.")
    ] = None,
    last: Annotated[
        date | None,
        day_option("--to", "Last date. Default: today plus the `publish_ahead_days` setting."),
    ] = None,
    solutions: Annotated[
        Solutions,
        typer.Option("--solutions", help="Publish the solutions when their date is over, or now."),
    ] = Solutions.WHEN_OVER,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    allow_future: AllowFuture = False,
    allow_many: AllowMany = False,
    as_json: Json = False,
) -> None:
    """Publish the Daily holes of a range of dates.

    Holes that are already published do not change.

    Example: fairway daily publish --from 2026-11-01 --to 2026-11-30
    """
    settings = read_settings(config, data=data, workers=workers)
    begin = first or settings.daily_from
    end = last or clock.today() + timedelta(days=settings.publish_ahead_days)
    if not allow_future:
        check_not_future(end, clock.today(), settings.publish_ahead_days, "--to")
    days = days_between(begin, end)
    if not days:
        raise UsageError(f"--from {begin} is after --to {end}; there is no date between")
    storage = storage_at(settings, create=True)
    if last is None:
        check_clock(storage, clock.today(), settings)
    with shown_progress() as progress:
        tools = job_context(settings, progress)
        done = run_publish(
            storage,
            days,
            settings,
            tools,
            solutions_now=solutions is Solutions.NOW,
            allow_many=allow_many,
        )
    if done.made:
        warn_without_key(settings)
    if as_json:
        put_json({"made": _texts(done.made), "there": done.there, "released": _texts(done.released)})
        return
    span = f", {done.made[0]} to {done.made[-1]}" if done.made else ""
    say(f"{len(done.made):,} Daily holes published{span}; {done.there:,} were already published")
    if done.released:
        say(f"{len(done.released):,} solutions published, {done.released[0]} to {done.released[-1]}")


def _texts(days: tuple[date, ...]) -> list[str]:
    return [day.isoformat() for day in days]
