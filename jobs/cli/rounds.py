"""`fairway round` and `fairway scorecard`: nine deals, their scorecard, and a Daily hole to share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Final

import typer

from jobs.api.reading import lines_of
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.files import opened
from jobs.terminal.options import (
    Config,
    Data,
    Json,
    LevelName,
    LevelNameOrNone,
    LineOrNone,
    day_option,
    round_option,
)
from jobs.terminal.output import can_carry, put_json, say
from jobs.terminal.tables import put_table
from pipeline.daily.files import published_daily
from pipeline.play.rounds import Round, round_of
from pipeline.play.scorecard import BOX, CIRCLE, Entry, Scorecard, played_daily, scorecard_of
from pipeline.pools.catalog import load_catalog
from pipeline.store.storage import Storage
from pipeline.store.text import quoted
from solver.errors import UsageError
from solver.table.score import signed

_SCORE: Final = re.compile(r"[+-]?[0-9]{1,9}")
_NO_MOVE: Final = "-"
_MAX_SHOWN: Final = 20

_MARKED: Final = {CIRCLE: "({})", BOX: "[{}]", None: "{} "}
_HEAD_WIDTH: Final = 7  # "running"
_HOLE_WIDTH: Final = 6  # "(-16)" and a blank before it
_TOTAL_WIDTH: Final = 7
_NAME_WIDTH: Final = 14  # "Double bogey" and two blanks


def show_round(
    level: LevelName,
    number: Annotated[int, round_option()],
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the nine deals of a round.

    A round has the pars of the level's course. It never changes while the pool grows.

    Example: fairway round medium --number 1
    """
    name = level
    round_ = _round(storage_at(read_settings(config, data=data)), name, number)
    if as_json:
        put_json(round_.document())
        return
    say(f"{round_.title}: par {round_.par}, best score {round_.best_score}\n")
    put_table(
        [("hole", True), ("deal number", True), ("par", True), ("best score", True)],
        [
            (str(hole.hole), str(hole.deal_number), str(hole.par), str(hole.best_score))
            for hole in round_.holes
        ],
    )


def scorecard(
    level: LevelNameOrNone = None,
    number: Annotated[int | None, round_option()] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="'N N ..'",
            help="Scores of the holes in order; fewer than nine for a round in progress.",
            show_default=False,
        ),
    ] = None,
    lines: Annotated[
        Path | None,
        typer.Option(
            "--lines",
            metavar="FILE",
            help="Lines played instead of scores, one per line of this file ('-' for standard input); write"
            " '-' for a hole without a move.",
            show_default=False,
        ),
    ] = None,
    day: Annotated[
        date | None, day_option("--daily", "Print a text to share instead, for the Daily hole of this date.")
    ] = None,
    line: LineOrNone = None,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show the scorecard of a round.

    Scores under par are in circles, scores over par in boxes. A round is won at or under par. With --daily
    and --line, prints a text to share that does not give the hole away.

    Example: fairway scorecard medium --number 1 --scores '3 6 2 5 4'
    """
    if day is not None:
        if any(given is not None for given in (level, number, scores, lines)):
            raise UsageError("--daily cannot be combined with a level, --number, --scores or --lines")
        if line is None:
            raise UsageError("--daily needs --line, the moves played; give '' for no moves")
        _share(storage_at(read_settings(config, data=data)), day, line, as_json=as_json)
    elif level is not None:
        if number is None or (scores is None) == (lines is None) or line is not None:
            raise UsageError("a scorecard needs --number N and either --scores or --lines")
        name = level
        round_ = _round(storage_at(read_settings(config, data=data)), name, number)
        card = (
            Scorecard(round_, _parsed_scores(scores or ""))
            if lines is None
            else scorecard_of(round_, _read_lines(lines, len(round_.holes) + 1))
        )
        _show_card(card, as_json=as_json)
    else:
        raise UsageError("give a level for a scorecard, or --daily DATE for a text to share")


def _round(storage: Storage, level: str, number: int) -> Round:
    return round_of(storage, load_catalog(storage).pool(level), number)


def _share(storage: Storage, day: date, line: str, *, as_json: bool) -> None:
    played = played_daily(published_daily(storage, day), line)
    if as_json:
        put_json(played.document())
    else:
        say(played.text(played.bar if can_carry(played.bar) else played.plain_bar))


def _show_card(card: Scorecard, *, as_json: bool) -> None:
    if as_json:
        put_json(card.document())
        return
    for text in card_lines(card):
        say(text)


def _parsed_scores(scores: str) -> tuple[int, ...]:
    """Read scores separated by blanks.

    Raises:
        UsageError: one is not a number.
    """
    words = scores.split()
    for hole, word in enumerate(words, start=1):
        if not _SCORE.fullmatch(word):
            raise UsageError(
                f"hole {hole}: {quoted(word, _MAX_SHOWN)} is not a score; write a number such as 4 or -2"
            )
    return tuple(map(int, words))


def _read_lines(file: Path, most: int) -> list[str]:
    """Read the first lines of a file, one per hole; `-` stands for a hole without a move.

    Raises:
        UsageError: there is a blank line before others, which may or may not stand for a hole.
    """
    with opened(file) as (stream, name, _):
        rows = list(islice(lines_of(stream, name, "line", blank=True), most))
    while rows and not rows[-1].text:
        rows.pop()
    for row in rows:
        if not row.text:
            raise UsageError(f"{name}, line {row.number} is blank; write - for a hole without a move")
    return ["" if row.text == _NO_MOVE else row.text for row in rows]


def card_lines(card: Scorecard) -> Iterator[str]:
    """Return a scorecard as text: holes across, marks around scores as on paper, names below."""
    holes, entries = card.round.holes, card.entries
    width = _HEAD_WIDTH + _HOLE_WIDTH * len(holes)

    def row(head: str, cells: Iterable[str], total: object) -> str:
        across = "".join(f"{cell:>{_HOLE_WIDTH}}" for cell in cells)
        return f"{head:<{_HEAD_WIDTH}}{across}".ljust(width) + f"{total:>{_TOTAL_WIDTH}}"

    yield card.round.title
    yield ""
    # Each number leaves room for a closing bracket, so that digits are aligned.
    yield row("hole", (f"{hole.hole} " for hole in holes), "total")
    yield row("par", (f"{hole.par} " for hole in holes), card.round.par)
    yield row("score", (_MARKED[entry.mark].format(entry.score) for entry in entries), card.total)
    yield row("running", (f"{signed(entry.running)} " for entry in entries), signed(card.against_par))
    yield ""
    yield from _names(entries)
    yield _result_text(card)


def _names(entries: Sequence[Entry]) -> Iterator[str]:
    """Return each name with its holes, best first."""
    against_par = attrgetter("against_par")
    for _, group in groupby(sorted(entries, key=against_par), against_par):
        same = list(group)
        word = "hole" if len(same) == 1 else "holes"
        yield f"{same[0].name:<{_NAME_WIDTH}}{word} {', '.join(str(entry.hole.hole) for entry in same)}"


def _result_text(card: Scorecard) -> str:
    made = f"{card.total} ({signed(card.against_par)})"
    if card.won is None:
        return f"{len(card.scores)} of {len(card.round.holes)} holes played: {made}"
    return f"{'won' if card.won else 'not won'}: {made} on a par of {card.round.par}"
