"""`fairway daily show` and `export`: a published hole, drawn or byte for byte."""

from datetime import date
from typing import Annotated, Any, Final

from jobs.terminal import clock
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.drawing import print_table
from jobs.terminal.files import check_outside, sink
from jobs.terminal.options import Config, Data, Json, Output, day_option
from jobs.terminal.output import put_bytes, say
from jobs.terminal.tables import put_table
from pipeline.daily.calendar import hole_number
from pipeline.daily.files import daily_path, published_bytes
from pipeline.errors import DamagedError
from pipeline.store.documents import Document, parse
from solver.errors import UsageError
from solver.players.difficulty import (
    chance_text,
    clear_chance_of,
    difficulty_of,
    difficulty_text,
)
from solver.table.deal import parse_deal
from solver.table.moves import start
from solver.table.rules import rules_named
from solver.table.score import score_name

_PERCENT: Final = 100
_NAMED_UNDER: Final = -2  # an Eagle; a cleared hole is further under par and has a signed number
_NAMED_OVER: Final = 2  # a Double bogey


ShownDay = Annotated[date | None, day_option("--date", "Date of the hole. Default: today in UTC.")]


def show(day: ShownDay = None, data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """Draw a published Daily hole.

    Also prints its par, the steady player's chance of each result, and how likely a clear is: a hole is done
    when it is cleared.

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
        _print_hole(document)
    except (KeyError, TypeError, ValueError, UsageError) as error:
        raise DamagedError(f"{path} is not a Daily hole: {error}; `fairway verify` has details") from error


def export(day: ShownDay = None, output: Output = None, data: Data = None, config: Config = None) -> None:
    """Print the file of a published Daily hole.

    The output is byte for byte what clients get.

    Example: fairway daily export --date 2026-11-30 -o hole.json
    """
    wanted = _shown(day)
    storage = storage_at(read_settings(config, data=data))
    if output is not None:
        check_outside(output)
    published = published_bytes(storage, wanted)
    with sink(output) as stream:
        stream.write(published)


def _shown(day: date | None) -> date:
    """Return the date of the hole to show."""
    shown = clock.today() if day is None else day
    hole_number(shown)  # refuses dates before the first hole
    return shown


def _print_hole(document: Document) -> None:
    deal, rules = parse_deal(document["deal"]), rules_named(document["rules"]["name"])
    par, steady = document["par"], document["steady"]
    say(
        f"Daily hole {document['hole']}, {document['date']}: par {par}, best score {document['best_score']}\n"
    )
    print_table(start(deal), rules)
    chance, difficulty = _clear_chance(document)
    say(f"\nThe varied player clears it in {chance_text(chance)}: difficulty {difficulty_text(difficulty)}.")
    say(f"The steady player scores {steady['mean']:.2f} on average and makes:\n")
    put_table(
        [("result", False), ("chance", True)],
        [(name, f"{chance * _PERCENT:.1f} %") for name, chance in _chances(steady, par)],
    )


def _clear_chance(document: Document) -> tuple[float, int]:
    """Return the clear chance and the difficulty, which documents of dates before 2027 do not have."""
    if "clear_chance" in document:
        return document["clear_chance"], document["difficulty"]
    from solver.players.varied import VARIED  # slow to load, and only these documents need it

    deal, rules = parse_deal(document["deal"]), rules_named(document["rules"]["name"])
    [mass] = VARIED.clear_masses([deal], rules)
    return clear_chance_of(mass), difficulty_of(mass)


def _chances(steady: dict[str, Any], par: int) -> list[tuple[str, float]]:
    """Return each name of a score and how likely the steady player makes it, best first."""
    under, over = par + _NAMED_UNDER, par + _NAMED_OVER
    names = ["better", *(score_name(score, par) for score in range(under, over + 1)), "worse"]
    chances = dict.fromkeys(names, 0.0)
    for score, chance in enumerate(steady["probabilities"], steady["lowest_score"]):
        name = "better" if score < under else "worse" if score > over else score_name(score, par)
        chances[name] += chance
    return list(chances.items())
