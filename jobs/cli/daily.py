"""`fairway daily`: a published hole shown or handed on as it is, and holes published apart from a night."""

from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from jobs.days import check_not_future, days_between
from jobs.terminal import clock
from jobs.terminal.context import check_clock, job_context, read_settings, storage_at, warn_without_key
from jobs.terminal.drawing import print_table
from jobs.terminal.files import check_outside, sink
from jobs.terminal.options import AllowFuture, Config, Data, Json, Output, Workers, day_option
from jobs.terminal.output import put_bytes, put_json, say
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table
from pipeline.daily.calendar import hole_number
from pipeline.daily.files import daily_path, published_bytes
from pipeline.errors import DamagedError
from pipeline.store.documents import Document, parse
from solver.errors import UsageError
from solver.table.deal import parse_deal
from solver.table.moves import start
from solver.table.rules import rules_named
from solver.table.score import score_name

_PERCENT: Final = 100
_NAMED_UNDER: Final = -2  # an Eagle; a cleared hole is further under par and has a signed number
_NAMED_OVER: Final = 2  # a Double bogey


class Solutions(StrEnum):
    """When the solution of a published hole is put out."""

    WHEN_OVER = "when-over"
    NOW = "now"


ShownDay = Annotated[date | None, day_option("--date", "The date of the hole. Default: today in UTC.")]


def show(day: ShownDay = None, data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """Draw a published Daily hole.

    With its par and the steady player's chances.

    Example: fairway daily show --date 2026-11-30
    """
    wanted = _shown(day)
    published = published_bytes(storage_at(read_settings(config, data=data)), wanted)
    if as_json:
        put_bytes(published)
        return
    path = daily_path(wanted)
    document = parse(published, path)
    try:
        _tell(document)
    except (KeyError, TypeError, ValueError, UsageError) as error:
        raise DamagedError(f"{path} is no Daily hole: {error}; `fairway verify` tells more") from error


def export(day: ShownDay = None, output: Output = None, data: Data = None, config: Config = None) -> None:
    """Print the file of a published Daily hole.

    Byte for byte, as clients get it.

    Example: fairway daily export --date 2026-11-30 -o hole.json
    """
    wanted = _shown(day)
    storage = storage_at(read_settings(config, data=data))
    if output is not None:
        check_outside(output)
    published = published_bytes(storage, wanted)
    with sink(output) as stream:
        stream.write(published)


def publish(
    first: Annotated[
        date | None, day_option("--from", "First date. Default: the setting daily_from, 2026-01-01.")
    ] = None,
    last: Annotated[
        date | None,
        day_option("--to", "Last date. Default: today and the days of the setting publish_ahead_days, 2."),
    ] = None,
    solutions: Annotated[
        Solutions,
        typer.Option("--solutions", help="Put their solutions out when their date is over, or at once."),
    ] = Solutions.WHEN_OVER,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    allow_future: AllowFuture = False,
    as_json: Json = False,
) -> None:
    """Publish the Daily holes of a range of dates.

    Those that are out already stay as they are.

    Example: fairway daily publish --from 2026-11-01 --to 2026-11-30
    """
    from jobs.runs.others import run_publish

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
        done = run_publish(storage, days, settings, tools, solutions_now=solutions is Solutions.NOW)
    if done.made:
        warn_without_key(settings)
    if as_json:
        put_json({"made": _texts(done.made), "there": done.there, "released": _texts(done.released)})
        return
    span = f", {done.made[0]} to {done.made[-1]}" if done.made else ""
    say(f"{len(done.made):,} Daily holes published{span}; {done.there:,} of the dates were out before")
    if done.released:
        say(f"{len(done.released):,} solutions put out, {done.released[0]} to {done.released[-1]}")


def _shown(day: date | None) -> date:
    """The date of the hole that is asked for."""
    shown = clock.today() if day is None else day
    hole_number(shown)  # before the first hole there is none, and none can be published
    return shown


def _texts(days: tuple[date, ...]) -> list[str]:
    return [day.isoformat() for day in days]


def _tell(document: Document) -> None:
    deal, rules = parse_deal(document["deal"]), rules_named(document["rules"]["name"])
    par, steady = document["par"], document["steady"]
    say(
        f"Daily hole {document['hole']}, {document['date']}: par {par}, best score {document['best_score']}\n"
    )
    print_table(start(deal), rules)
    say(f"\nThe steady player needs {steady['mean']:.2f} on average, and makes:\n")
    put_table(
        [("result", False), ("chance", True)],
        [(name, f"{chance * _PERCENT:.1f} %") for name, chance in _chances(steady, par)],
    )


def _chances(steady: dict[str, Any], par: int) -> list[tuple[str, float]]:
    """What a score is called, and how likely the steady player makes it, best first."""
    under, over = par + _NAMED_UNDER, par + _NAMED_OVER
    names = ["better", *(score_name(score, par) for score in range(under, over + 1)), "worse"]
    chances = dict.fromkeys(names, 0.0)
    for score, chance in enumerate(steady["probabilities"], steady["lowest_score"]):
        name = "better" if score < under else "worse" if score > over else score_name(score, par)
        chances[name] += chance
    return list(chances.items())
