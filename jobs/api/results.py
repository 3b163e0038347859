"""Results of players: read from lines of JSON, and summarised as a document with a fixed order of keys."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from jobs.api.fields import deal_in, line_in, mistyped, object_in, rules_in
from jobs.api.reading import Line
from jobs.days import parse_day
from pipeline.daily.calendar import hole_number
from pipeline.deals.levels import DAILY_RULES
from pipeline.play.player import PlayedRound, PlayerPage, Streak
from pipeline.play.results import Hole, Result
from pipeline.store.documents import Document
from pipeline.studies.calibration import Calibration
from pipeline.studies.statistics import Mean
from solver.errors import UsageError
from solver.table.rules import Rules
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE

_MAX_SECONDS: Final = 1_000_000_000  # thirty years; a larger number is in some other unit


def parse_result(line: Line, name: str) -> Result:
    """Read the result on a line: one JSON object. Unknown fields are ignored; null counts as missing.

    Args:
        line: of a file.
        name: of the file, for messages.

    Raises:
        UsageError: it is not a JSON object, or a field is missing or invalid. The message names the line.
    """
    where = f"{name}, line {line.number}"
    document = object_in(line.text, where)
    try:
        hole, number = _hole(document)
        moves, score = line_in(document), _score(document)
        if moves is None and score is None:
            raise UsageError("neither 'line' nor 'score' is given; give one of them, or both")
        return Result(where, hole, number, moves, score, _seconds(document))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _hole(document: Document) -> tuple[Hole, int | None]:
    """Return what was played, and the deal's number if it has one."""
    deal, day, rules = document.get("deal"), document.get("date"), rules_in(document)
    if (deal is None) == (day is None):
        raise UsageError("give either 'deal' (a number or a notation) or 'date'")
    if day is not None:
        return _day(day, rules), None
    if rules is None:
        raise UsageError("'deal' is given without 'rules'; add the rules it was played by, as in \"golf\"")
    given = deal_in(deal)
    return (given.deal, rules), given.number


def _day(text: Any, rules: Rules | None) -> date:
    if not isinstance(text, str):
        raise mistyped("date", text, "text, as YYYY-MM-DD")
    day = parse_day(text)
    hole_number(day)  # refuses dates before the first hole
    if rules not in (None, DAILY_RULES):
        raise UsageError(f"Daily holes are played by the rules {DAILY_RULES.name}; leave 'rules' out")
    return day


def _score(document: Document) -> int | None:
    score = document.get("score")
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int) or not LOWEST_SCORE <= score <= HIGHEST_SCORE:
        raise mistyped("score", score, f"a whole number from {LOWEST_SCORE} to {HIGHEST_SCORE}")
    return score


def _seconds(document: Document) -> float | None:
    seconds = document.get("seconds")
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds <= _MAX_SECONDS:
        raise mistyped("seconds", seconds, f"a number from 0 to {_MAX_SECONDS:,}")
    return abs(float(seconds))  # JSON has a -0 too


def results_document(page: PlayerPage, rows: Sequence[Calibration]) -> dict[str, Any]:
    """Return a player's statistics, and how players compare with par; null means unknown."""
    return {"player": _page_document(page), "calibration": [_row_document(row) for row in rows]}


def _page_document(page: PlayerPage) -> dict[str, Any]:
    return {
        "holes": page.holes,
        "cleared": page.cleared,
        "rounds_played": page.rounds,
        "rounds_won": page.rounds_won,
        "best_round": page.best_round and _round_document(page.best_round),
        "against_par": page.overall and page.overall.against_par,
        "by_par": [
            {"par": par, "holes": average.holes, "against_par": average.against_par}
            for par, average in page.by_par.items()
        ],
        "longest_run": page.longest_run,
        "best_seconds": page.best_seconds,
        "fewest_moves": page.fewest_moves,
        "dailies": _streak_document(page.dailies),
        "dailies_cleared": _streak_document(page.dailies_cleared),
    }


def _round_document(played: PlayedRound) -> dict[str, Any]:
    return {
        "level": played.level,
        "round": played.round,
        "score": played.score,
        "par": played.par,
        "against_par": played.against_par,
    }


def _streak_document(streak: Streak) -> dict[str, Any]:
    return {
        "dates": streak.dates,
        "longest_streak": streak.longest,
        "last_streak": streak.last,
        "last_date": streak.last_date and streak.last_date.isoformat(),
    }


def _row_document(row: Calibration) -> dict[str, Any]:
    interval = row.at_par_interval
    return {
        "level": row.level,
        "par": row.par,
        "results": row.score.size,
        "score": _mean_document(row.score),
        "steady_mean": row.steady_mean,
        "apart": _mean_document(row.apart),
        "at_par": {"share": row.at_par.share, "wilson_95": [interval.low, interval.high]},
        "steady_at_par": row.steady_at_par,
        "verdict": str(row.verdict),
        "players_par": row.players_par,
    }


def _mean_document(mean: Mean) -> dict[str, Any]:
    spread = mean.spread
    return {
        "mean": mean.value,
        "sd": spread and spread.sd,
        "normal_95": spread and [spread.interval.low, spread.interval.high],
    }
