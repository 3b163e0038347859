"""`fairway scorecard`: the card of a round, and a Daily hole as a text to share."""

import re
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from jobs.api.lines import lines_of
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.line_file import opened
from jobs.terminal.options import Config, Data, Json, LevelNameOrNone, LineOrNone, day_option, round_option
from jobs.terminal.output import can_carry, put_json, say
from pipeline.deals.levels import level_named
from pipeline.pools.catalog import load_catalog
from pipeline.store.storage import LocalStorage
from pipeline.store.text import quoted
from solver.errors import UsageError

if TYPE_CHECKING:  # it reads Parquet
    from pipeline.play.rounds import Round

_SCORE: Final = re.compile(r"[+-]?[0-9]{1,9}")
_NO_MOVE: Final = "-"


def scorecard(
    level: LevelNameOrNone = None,
    number: Annotated[int | None, round_option()] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="'N N ..'",
            help="The scores of its holes, in order; fewer than nine for a card in progress.",
            show_default=False,
        ),
    ] = None,
    lines: Annotated[
        Path | None,
        typer.Option(
            "--lines",
            metavar="FILE",
            help="Instead the lines played: one a line of a file ('-' is standard input), '-' for no move.",
            show_default=False,
        ),
    ] = None,
    day: Annotated[
        date | None, day_option("--daily", "A text to share instead: of the Daily hole of this date.")
    ] = None,
    line: LineOrNone = None,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show the scorecard of a round.

    Scores under par are in circles, scores over par in boxes; a round is won at or under par. With --daily
    and --line: a text to share, which spoils nothing.

    Example: fairway scorecard medium --number 1 --scores '3 6 2 5 4'
    """
    if day is not None:
        if any(given is not None for given in (level, number, scores, lines)):
            raise UsageError("--daily goes with --line, the moves played, and with nothing of a round")
        if line is None:
            raise UsageError("--daily goes with --line, the moves played; '' for a hole without one")
        _share(storage_at(read_settings(config, data=data)), day, line, as_json=as_json)
    elif level is not None:
        if number is None or (scores is None) == (lines is None) or line is not None:
            raise UsageError("the card of a round takes --number N, and one of --scores and --lines")
        name = level_named(level).name
        round_ = _round(storage_at(read_settings(config, data=data)), name, number)
        _lay_out(round_, scores, lines, as_json=as_json)
    else:
        raise UsageError("give a level, for the card of a round, or --daily DATE, for a text to share")


def _share(storage: LocalStorage, day: date, line: str, *, as_json: bool) -> None:
    from pipeline.daily.files import published_daily
    from pipeline.play.scorecard import played_daily

    played = played_daily(published_daily(storage, day), line)
    if as_json:
        put_json(played.document())
    else:
        say(played.text(played.bar if can_carry(played.bar) else played.plain_bar))


def _round(storage: LocalStorage, level: str, number: int) -> "Round":
    from pipeline.play.rounds import round_of

    return round_of(storage, load_catalog(storage).pool(level), number)


def _lay_out(round_: "Round", scores: str | None, lines: Path | None, *, as_json: bool) -> None:
    from jobs.cli.scorecard_text import card_lines
    from pipeline.play.scorecard import Scorecard, scores_of

    made = _parsed(scores or "") if lines is None else scores_of(round_, _read(lines, len(round_.holes) + 1))
    card = Scorecard(round_, made)
    if as_json:
        put_json(card.document())
        return
    for text in card_lines(card):
        say(text)


def _parsed(scores: str) -> tuple[int, ...]:
    """The scores of a text.

    Raises:
        UsageError: one is no number.
    """
    words = scores.split()
    for hole, word in enumerate(words, start=1):
        if not _SCORE.fullmatch(word):
            raise UsageError(f"hole {hole}: {quoted(word, 20)} is no score; write it as in 4 or -2")
    return tuple(map(int, words))


def _read(file: Path, most: int) -> list[str]:
    """The first lines of a file, one a hole; `-` stands for one without a move.

    Raises:
        UsageError: a blank line stands before others, where nobody could tell whether it is a hole.
    """
    with opened(file) as (stream, name, _):
        rows = list(islice(lines_of(stream, name, "line", blank=True), most))
    while rows and not rows[-1].text:
        rows.pop()
    for row in rows:
        if not row.text:
            raise UsageError(f"{name}, line {row.number} is blank; write - for a hole without a move")
    return ["" if row.text == _NO_MOVE else row.text for row in rows]
