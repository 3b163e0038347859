"""What results say, as a document for programs and as text for people."""

from collections.abc import Sequence
from typing import Any, Final

from jobs.terminal.output import put_table, say
from pipeline.play.player import PlayedRound, PlayerPage, Streak
from pipeline.studies.calibration import Calibration
from pipeline.studies.statistics import Interval, Mean

_PERCENT: Final = 100
_NONE: Final = "-"


def document_of(page: PlayerPage, rows: Sequence[Calibration]) -> dict[str, Any]:
    """All that results say, keys in a fixed order; null for what is not known."""
    return {"player": _page_document(page), "calibration": [_row_document(row) for row in rows]}


def tell(page: PlayerPage, rows: Sequence[Calibration]) -> None:
    """Print what results say for people."""
    for name, text in _page_lines(page):
        say(f"{name:<15}{text}")
    if page.holes:
        say()
        _tell_pars(page)
        say("\nMean scores, players' beside the steady player's on the same holes:\n")
        _tell_means(rows)
        say("\nHow many are par or better:\n")
        _tell_shares(rows)


def _page_document(page: PlayerPage) -> dict[str, Any]:
    return {
        "holes": page.holes,
        "cleared": page.cleared,
        "rounds_played": page.rounds,
        "rounds_won": page.rounds_won,
        "best_round": _round_document(page.best_round),
        "against_par": page.overall and page.overall.against_par,
        "by_par": [
            {"par": par, "holes": average.holes, "against_par": average.against_par}
            for par, average in page.by_par.items()
        ],
        "longest_run": page.longest_run,
        "best_seconds": page.best_seconds,
        "fewest_moves": page.fewest_moves,
        "dailies": _streak_document(page.streak),
    }


def _round_document(played: PlayedRound | None) -> dict[str, Any] | None:
    if played is None:
        return None
    return {
        "level": played.level,
        "round": played.round,
        "score": played.score,
        "par": played.par,
        "against_par": played.against_par,
    }


def _streak_document(streak: Streak | None) -> dict[str, Any] | None:
    if streak is None:
        return None
    return {
        "dates": streak.dates,
        "longest_streak": streak.longest,
        "last_streak": streak.last,
        "last_date": streak.last_date.isoformat(),
    }


def _row_document(row: Calibration) -> dict[str, Any]:
    return {
        "level": row.level,
        "par": row.par,
        "results": row.score.size,
        "score": _mean_document(row.score),
        "steady_mean": row.steady_mean,
        "apart": _mean_document(row.apart),
        "at_par": {"share": row.at_par.share, "wilson_95": _ends(row.at_par_interval)},
        "steady_at_par": row.steady_at_par,
        "verdict": str(row.verdict),
        "players_par": row.players_par,
    }


def _mean_document(mean: Mean) -> dict[str, Any]:
    spread = mean.spread
    return {
        "mean": mean.value,
        "sd": spread and spread.sd,
        "normal_95": spread and _ends(spread.interval),
    }


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _page_lines(page: PlayerPage) -> list[tuple[str, str]]:
    return [
        ("holes played", f"{page.holes:,}, {page.cleared:,} of them cleared"),
        ("rounds played", f"{page.rounds:,}, {page.rounds_won:,} of them won"),
        ("best round", _round_text(page.best_round)),
        ("against par", f"{page.overall.against_par:+.2f} on average" if page.overall else _NONE),
        ("longest run", _NONE if page.longest_run is None else f"{page.longest_run}"),
        ("best time", _NONE if page.best_seconds is None else f"{page.best_seconds:,.10g} s"),
        ("fewest moves", _NONE if page.fewest_moves is None else f"{page.fewest_moves}"),
        ("Daily holes", _streak_text(page.streak)),
    ]


def _round_text(played: PlayedRound | None) -> str:
    if played is None:
        return _NONE
    return f"{played.score} at par {played.par}: {played.level}, round {played.round}"


def _streak_text(streak: Streak | None) -> str:
    if streak is None:
        return _NONE
    dates = "1 date" if streak.dates == 1 else f"{streak.dates:,} dates"
    return f"{dates}; longest streak {streak.longest:,}, latest {streak.last:,} (to {streak.last_date})"


def _tell_pars(page: PlayerPage) -> None:
    put_table(
        [("par", True), ("holes", True), ("against par", True)],
        [
            (f"{par}", f"{average.holes:,}", f"{average.against_par:+.2f}")
            for par, average in page.by_par.items()
        ],
    )


def _tell_means(rows: Sequence[Calibration]) -> None:
    numbers = ("par", "results", "players", "steady", "apart (95 %)")
    put_table(
        [
            ("level", False),
            *((heading, True) for heading in numbers),
            ("verdict", False),
            ("players' par", True),
        ],
        [
            (
                *_group(row),
                f"{row.score.value:.2f}",
                f"{row.steady_mean:.2f}",
                _apart(row.apart),
                f"{row.verdict}",
                f"{row.players_par}",
            )
            for row in rows
        ],
    )


def _tell_shares(rows: Sequence[Calibration]) -> None:
    put_table(
        [("level", False), *((heading, True) for heading in ("par", "results", "players (95 %)", "steady"))],
        [(*_group(row), _share_at_par(row), _share(row.steady_at_par)) for row in rows],
    )


def _group(row: Calibration) -> tuple[str, str, str]:
    return row.level, f"{row.par}", f"{row.score.size:,}"


def _apart(mean: Mean) -> str:
    if mean.spread is None:
        return f"{mean.value:+.2f}"
    return f"{mean.value:+.2f} ({mean.spread.interval.low:+.2f} to {mean.spread.interval.high:+.2f})"


def _share_at_par(row: Calibration) -> str:
    low, high = map(_share, _ends(row.at_par_interval))
    return f"{_share(row.at_par.share)} ({low} to {high})"


def _share(share: float) -> str:
    return f"{share * _PERCENT:.1f} %"
