"""`fairway pool preview`: what a policy would admit of a sample, without writing anything."""

import math
from collections.abc import Callable
from time import thread_time
from typing import Annotated, Any, Final

import typer

from jobs.api.pools import PARS, policy_document
from jobs.settings.load import checkout_root
from jobs.settings.model import Settings
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Changes, Config, Data, Json, LevelName, Workers, changes_of, number_option
from jobs.terminal.output import duration_text, put_json, say
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table
from pipeline.deals.levels import NAME_FAULT, NO_BOUND, Level, changed, is_level_name, possible_pars
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.pools.catalog import load_catalog
from pipeline.pools.preview import Preview, preview
from pipeline.pools.unfinished import made_policy
from pipeline.store.storage import Storage
from pipeline.store.text import quoted
from pipeline.studies.statistics import Sample, wilson_interval
from pipeline.work.counts import Counts
from pipeline.work.executors import local_work
from solver.errors import UsageError
from solver.players.difficulty import DIFFICULTY_NAMES

_CURRENT: Final = "current"
_MOST: Final = 1_000_000
_PERCENT: Final = 100
_MAX_SHOWN: Final = 30


def show_preview(
    level: LevelName,
    changes: Changes = None,
    sample: Annotated[
        int, number_option("--sample", "Number of shuffles to try.", least=1, most=_MOST)
    ] = 2000,
    first: Annotated[
        int, number_option("--from-number", "First deal number to try.", least=0, most=MOST_DEAL_NUMBER)
    ] = 0,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="POLICY",
            help="Also preview this policy: current, that of the pool now.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Preview what a level would admit.

    Tries a sample of shuffles and shows how many would be admitted, their pars and difficulties, how long a
    night would take, and whether its rounds can be filled. Nothing is written.

    Example: fairway pool preview easy --set mean_below=2 --against current
    """
    settings = read_settings(config, data=data, workers=workers)
    root = settings.data or checkout_root()
    storage = None if root is None or not root.exists() else storage_at(settings)
    wanted, lost_course = _without_lost_course(settings, level, changes, storage)
    levels = {"previewed": wanted}
    if against is not None:
        if against != _CURRENT:
            raise UsageError(f"--against can only be {_CURRENT}, the policy of the pool now")
        levels[_CURRENT] = load_catalog(storage_at(settings)).pool(level).level_row
    with (
        shown_progress() as progress,
        local_work(settings.workers, progress, Counts(clock=thread_time)) as work,
    ):
        found = {name: preview(each, first, sample, work) for name, each in levels.items()}
    if as_json:
        put_json({name: _document(each, settings) for name, each in found.items()})
        return
    _print(found, settings)
    if lost_course:
        pars, course = possible_pars(wanted.policy), ",".join(map(str, lost_course))
        say(f"\nthe course {course} cannot be filled, because all deals have par {_either(pars)};")
        say("name another with --set course=.., or take it away with --set course=none")


def _without_lost_course(
    settings: Settings, name: str, changes: list[str] | None, storage: Storage | None
) -> tuple[Level, tuple[int, ...]]:
    """Return the level, and the course that it loses because the changed bounds do not admit its pars."""
    given = changes_of(changes)
    if "course" in given or name not in settings.level_names:
        return level_with(settings, name, changes, storage), ()
    course = settings.level(name).course
    bare = level_with(settings, name, [*(changes or ()), f"course={NO_BOUND}"], storage)
    if set(course) - set(possible_pars(bare.policy)):
        return bare, course
    return level_with(settings, name, changes, storage), ()


def _either(pars: tuple[int, ...]) -> str:
    return " or ".join(map(str, pars))


def level_with(settings: Settings, name: str, changes: list[str] | None, storage: Storage | None) -> Level:
    """Return a level of the settings with the changes of `--set`.

    A level that the settings lack has the policy of its pool, or of its unfinished regeneration. If there is
    neither, it is a new level.

    Raises:
        UsageError: a change is not possible, or no level may have that name.
    """
    given = changes_of(changes)
    if name in settings.level_names:
        return Level(name, changed(settings.level(name).policy, given))
    if not is_level_name(name):
        raise UsageError(f"level {quoted(name, _MAX_SHOWN)}: {NAME_FAULT}")
    policy = None if storage is None else made_policy(storage, name)
    if policy is None and not given:
        settings.level(name)  # refuses an unknown level
    return Level(name, changed(policy, given))


def _document(found: Preview, settings: Settings) -> dict[str, Any]:
    interval = wilson_interval(Sample(found.admitted, found.sampled))
    per_round = found.deals_per_round
    per_night = settings.deals_of(found.level.name)
    return {
        "level": found.level.name,
        "policy": policy_document(found.level.policy),
        "from_number": str(found.first),
        "sampled": found.sampled,
        "cleared": found.cleared,
        "admitted": found.admitted,
        "admitted_share": {
            "value": found.admitted / found.sampled,
            "low": interval.low,
            "high": interval.high,
        },
        "pars": {str(par): found.pars.get(par, 0) for par in PARS},
        "difficulties": {str(each): found.difficulties.get(each, 0) for each in DIFFICULTY_NAMES},
        "steady_mean": found.mean,
        "night": {
            "deals": per_night,
            "shuffles": found.shuffles_for(per_night),
            "seconds": found.seconds_for(per_night),
        },
        "deals_per_round": None if per_round is None or math.isinf(per_round) else per_round,
        "rounds_can_be_filled": per_round is not None and not math.isinf(per_round),
    }


def _print(found: dict[str, Preview], settings: Settings) -> None:
    for name, each in found.items():
        say(f"{name}: {each.level.name} admits {each.level.policy.admits_text}")
    say()
    put_table(
        [("", False), *((name, True) for name in found)],
        [(name, *(cell(each) for each in found.values())) for name, cell in _rows(settings)],
    )


def _rows(settings: Settings) -> list[tuple[str, Callable[[Preview], str]]]:
    def per_night(each: Preview) -> int:
        return settings.deals_of(each.level.name)

    return [
        ("shuffles", lambda each: f"{each.sampled:,}"),
        ("can be cleared", lambda each: f"{each.cleared:,}"),
        ("admitted", lambda each: f"{each.admitted:,}"),
        ("share, 95 %", _share_cell),
        *((f"par {par}", _count_cell("pars", par)) for par in PARS),
        *(
            (f"difficulty {number}, {word}", _count_cell("difficulties", number))
            for number, word in DIFFICULTY_NAMES.items()
        ),
        ("steady mean", lambda each: "-" if each.mean is None else f"{each.mean:.2f}"),
        ("deals a night", lambda each: f"{per_night(each):,}"),
        ("shuffles a night", lambda each: _whole(each.shuffles_for(per_night(each)))),
        ("a night takes", lambda each: _duration(each.seconds_for(per_night(each)))),
        ("deals a round", _round_cell),
    ]


def _count_cell(counts: str, key: int) -> Callable[[Preview], str]:
    return lambda each: f"{getattr(each, counts).get(key, 0):,}"


def _share_cell(each: Preview) -> str:
    interval = wilson_interval(Sample(each.admitted, each.sampled))
    return f"{interval.low * _PERCENT:.1f} to {interval.high * _PERCENT:.1f} %"


def _whole(number: float | None) -> str:
    return "never filled" if number is None else f"{math.ceil(number):,}"


def _duration(seconds: float | None) -> str:
    return "-" if seconds is None else f"{duration_text(seconds)} of one core"


def _round_cell(each: Preview) -> str:
    per_round = each.deals_per_round
    if per_round is None:
        return "no course"
    return "cannot be filled from these" if math.isinf(per_round) else f"{per_round:.0f}"
