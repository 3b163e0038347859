"""`fairway status`: show the health of a data root."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jobs.terminal import clock
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json
from jobs.terminal.outcome import DONE, FAILED, complain
from jobs.terminal.output import duration_text, put_json, say
from jobs.terminal.tables import put_table
from jobs.watch.logs import message_line
from jobs.watch.status import Status, look, status_of
from pipeline.work.records import RunRecord
from solver.errors import FairwayError

STATUS_SCHEMA = "fairway-status/1.1"


def status(data: Data = None, config: Config = None, as_json: Json = False) -> int:
    """Show the health of a data root.

    Exits with status 0 if there are no problems and 1 if there are any. Each problem is shown with what to
    do about it. The command can be used as a container's health check.

    Example: fairway status --json
    """
    try:
        settings = read_settings(config, data=data)
        storage = storage_at(settings)
        now = clock.now()
        found = status_of(now, settings, look(storage, now))
    except FairwayError as error:  # a health check has only two results
        complain(str(error))
        return FAILED
    if as_json:
        put_json(document(found, storage.root))
    else:
        _print(found, storage.root)
    return DONE if found.is_well else FAILED


def document(status: Status, root: Path) -> dict[str, Any]:
    """Return a status as a JSON document.

    Args:
        status: the health of the data root.
        root: the data root.
    """
    today = status.now.astimezone(UTC).date()
    age = status.success_age
    return {
        "schema": STATUS_SCHEMA,
        "data": str(root),
        "now": _moment(status.now),
        "is_well": status.is_well,
        "today": {"date": str(today), "is_out": status.is_today_out},
        "tomorrow": {"date": str(today + timedelta(days=1)), "is_out": status.is_tomorrow_out},
        "last_published": None if status.last_published is None else str(status.last_published),
        "last_success": _run(status.last_success),
        "last_success_age_seconds": None if age is None else round(age.total_seconds()),
        "last_run": _run(status.last_run),
        "next_run": _moment(status.next_run),
        "pools": [
            {
                "level": pool.level,
                "deals": pool.deals,
                "cap": pool.cap,
                "grown_in_7_days": pool.grown,
                "last_night": None if pool.last_night is None else str(pool.last_night),
                "policy_differs": pool.differs,
            }
            for pool in status.pools
        ],
        "problems": [
            {"name": problem.name, "what": problem.what, "remedy": problem.remedy}
            for problem in status.problems
        ],
    }


def _run(record: RunRecord | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "run_id": record.run_id,
        "outcome": record.outcome.value,
        "ended": _moment(record.ended),
        "error": record.error,
    }


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _print(status: Status, root: Path) -> None:
    today = status.now.astimezone(UTC).date()
    count = len(status.problems)
    say("no problems" if status.is_well else f"{count} problem{'s' * (count > 1)}")
    for problem in status.problems:
        say(f"  {problem.name}: {message_line(problem.what)}")
        say(f"    {message_line(problem.remedy)}")
    say()
    say(f"today's hole:      {_out(status.is_today_out)} ({today} UTC)")
    say(f"tomorrow's hole:   {_out(status.is_tomorrow_out)}")
    say(f"last published:    {status.last_published or 'none'}")
    say(f"last success:      {_success(status)}")
    say(f"last run:          {_last_run(status.last_run)}")
    say(f"next run:          {status.next_run:%Y-%m-%d %H:%M} UTC")
    say(f"data root:         {root}")
    if not status.pools:
        return
    say()
    put_table(
        [
            ("level", False),
            ("deals", True),
            ("cap", True),
            ("in 7 days", True),
            ("last night", False),
        ],
        [
            (
                pool.level,
                f"{pool.deals:,}",
                f"{pool.cap:,}",
                f"+{pool.grown:,}",
                str(pool.last_night or "none"),
            )
            for pool in status.pools
        ],
    )
    for pool in status.pools:
        if pool.differs:
            say(f"\n{pool.level}: the policy in the settings differs; see `fairway level show {pool.level}`")


def _out(is_out: bool) -> str:
    return "published" if is_out else "not published"


def _success(status: Status) -> str:
    record, age = status.last_success, status.success_age
    if record is None or age is None:
        return "none yet"
    return f"{record.ended:%Y-%m-%d %H:%M} UTC, {duration_text(max(age.total_seconds(), 0))} ago"


def _last_run(record: RunRecord | None) -> str:
    return "none yet" if record is None else f"{record.ended:%Y-%m-%d %H:%M} UTC, {record.outcome.value}"
