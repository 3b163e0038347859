"""What results say about a player and about par, as a document: keys in a fixed order, null for unknown."""

from collections.abc import Sequence
from typing import Any

from pipeline.play.player import PlayedRound, PlayerPage, Streak
from pipeline.studies.calibration import Calibration
from pipeline.studies.statistics import Mean


def results_document(page: PlayerPage, rows: Sequence[Calibration]) -> dict[str, Any]:
    """Return a player's statistics, and how players compare with par."""
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
        "dailies": page.streak and _streak_document(page.streak),
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
        "last_date": streak.last_date.isoformat(),
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
