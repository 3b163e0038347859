"""The hole of a date: how it is chosen (daily v1 and v2, frozen), and the bytes of its files.

A hole depends only on its date and the secret key, if there is one: not on pools, clock, machine, or what was
published before. So it can be chosen anywhere, in any order, with the same result.
"""

from dataclasses import dataclass
from datetime import date
from itertools import count
from typing import Any, Final

from pipeline.daily.calendar import hole_number
from pipeline.deals.certified import CertifiedDeal
from pipeline.deals.certify import certify
from pipeline.deals.fragments import rules_document
from pipeline.deals.levels import daily_level, daily_version
from pipeline.deals.shuffle import daily_candidate
from pipeline.store.documents import DAILY_SCHEMA, RATED_DAILY_SCHEMA, SOLUTION_SCHEMA, render
from pipeline.store.text import sha256_of
from pipeline.versions import daily_versions
from pipeline.work.counts import Stopwatch, no_clock
from solver.cards import card_name
from solver.table.rules import rules_named
from solver.table.score import LOWEST_SCORE

_KEY_ID_TEXT: Final = b"fairway key id"
_KEY_ID_DIGITS: Final = 8
_DECIMALS: Final = 9
_FIRST_RATED: Final = 2  # the version of the definition that chooses holes by their difficulty


@dataclass(frozen=True, slots=True)
class DailyHole:
    """The hole of a date, certified.

    Attributes:
        day: its date.
        attempt: which of the date's shuffles it is, from 0.
        key_id: the id of the secret key of the shuffles; None if there is none.
        version: the version of the definition that chose it.
        certified: the deal with its par, line and score distribution; its deal number is the attempt.
    """

    day: date
    attempt: int
    key_id: str | None
    version: int
    certified: CertifiedDeal

    @property
    def hole(self) -> int:
        """The hole's number."""
        return hole_number(self.day)


def key_id(key: bytes) -> str:
    """Return the public id of a secret key: eight hexadecimal digits."""
    return sha256_of(_KEY_ID_TEXT + key)[:_KEY_ID_DIGITS]


def choose(
    day: date, key: bytes | None, watch: Stopwatch | None = None, version: int | None = None
) -> DailyHole:
    """Return the hole of a date: the first of its shuffles, with this key, that the daily policy admits.

    The version of the definition is that of the date unless another is given.

    Raises:
        UsageError: if the date is before the first hole, or the key does not have 32 bytes.
        CheckError: if a line fails its replay; then nothing may be published.
    """
    hole_number(day)
    version = daily_version(day) if version is None else version
    level, watch = daily_level(day, version), watch or Stopwatch(no_clock)
    for attempt in count():
        deal = daily_candidate(day, attempt, key)
        watch.lap("sampling")
        certified = certify(level, deal, attempt, watch)
        if certified is not None:
            return DailyHole(day, attempt, None if key is None else key_id(key), version, certified)
    raise AssertionError("the attempts never end")


def solution_bytes(hole: DailyHole) -> bytes:
    """Return the bytes of the solution of a hole."""
    return render(
        {
            "schema": SOLUTION_SCHEMA,
            "date": hole.day.isoformat(),
            "puzzle_id": hole.certified.deal.puzzle_id,
            "best_score": hole.certified.best_score,
            "line": hole.certified.line,
        }
    )


def daily_bytes(hole: DailyHole) -> bytes:
    """Return the bytes of the daily of a hole, with the hash of its solution."""
    certified = hole.certified
    deal, is_rated = certified.deal, hole.version >= _FIRST_RATED
    return render(
        {
            "schema": RATED_DAILY_SCHEMA if is_rated else DAILY_SCHEMA,
            "date": hole.day.isoformat(),
            "hole": hole.hole,
            "level": certified.level,
            "par": certified.par,
            "rules": rules_document(rules_named(certified.rules)),
            "columns": [[card_name(card) for card in column] for column in deal.columns],
            "waste": card_name(deal.waste),
            "stock": [card_name(card) for card in deal.stock],
            "deal": deal.notation,
            "puzzle_id": deal.puzzle_id,
            "done_when": "cleared",
            "best_score": certified.best_score,
            "steady": _steady_document(certified),
            **(_difficulty_document(certified) if is_rated else {}),
            "attempt": hole.attempt,
            "keyed": hole.key_id is not None,
            "key_id": hole.key_id,
            "versions": daily_versions(hole.version),
            "solution_sha256": sha256_of(solution_bytes(hole)),
        }
    )


def _steady_document(certified: CertifiedDeal) -> dict[str, Any]:
    distribution = certified.distribution
    return {
        "mean": round(distribution.mean, _DECIMALS),
        "clear_rate": round(distribution.clear_rate, _DECIMALS),
        "lowest_score": LOWEST_SCORE,
        "probabilities": [round(probability, _DECIMALS) for probability in distribution.probabilities],
    }


def _difficulty_document(certified: CertifiedDeal) -> dict[str, Any]:
    return {
        "difficulty": certified.difficulty,
        "clear_chance": round(certified.clear_chance, _DECIMALS),
    }
