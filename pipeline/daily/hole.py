"""The hole of a date: how it is chosen (daily v1, frozen) and the bytes it is published as.

A hole depends on its date and, where there is one, on the secret key; on nothing else: not on pools, clock,
machine, or what was published before. So it can be worked out anywhere, in any order, and comes out the same.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from pipeline.deals.fragments import rules_document
from pipeline.deals.levels import DAILY
from pipeline.deals.shuffle import daily_candidate
from pipeline.store.documents import DAILY_SCHEMA, SOLUTION_SCHEMA, render
from pipeline.store.text import sha256_of
from pipeline.versions import DAILY_VERSIONS
from pipeline.work.counts import Stopwatch, no_clock
from solver.cards import card_name
from solver.errors import UsageError
from solver.table.rules import rules_named
from solver.table.score import LOWEST_SCORE

if TYPE_CHECKING:  # whoever asks for a hole's number must not load the kernels
    from pipeline.deals.certify import CertifiedDeal

FIRST_DAY: Final = date(2026, 1, 1)

_KEY_ID_TEXT: Final = b"fairway key id"
_KEY_ID_DIGITS: Final = 8
_DECIMALS: Final = 9
_OVER_AFTER: Final = timedelta(days=1, hours=12)  # from 00:00 UTC: the westernmost clocks are at UTC-12


@dataclass(frozen=True, slots=True)
class DailyHole:
    """The hole of a date, certified.

    Attributes:
        day: its date.
        attempt: which of the date's shuffles it is, from 0 on.
        key_id: which secret key the shuffles depend on; None where on none.
        certified: the deal with its par, line and score distribution; its deal number is the attempt.
    """

    day: date
    attempt: int
    key_id: str | None
    certified: "CertifiedDeal"

    @property
    def hole(self) -> int:
        """The hole's number."""
        return hole_of(self.day)


def hole_of(day: date) -> int:
    """Number of a date's hole: days since 2026-01-01, plus 1.

    Raises:
        UsageError: the date lies before that.
    """
    if day < FIRST_DAY:
        raise UsageError(f"there is no hole for {day}: the first one is that of {FIRST_DAY}")
    return (day - FIRST_DAY).days + 1


def key_id(key: bytes) -> str:
    """What may be known of a secret key: eight hexadecimal digits that tell it from another."""
    return sha256_of(_KEY_ID_TEXT + key)[:_KEY_ID_DIGITS]


def is_over(day: date, now: datetime) -> bool:
    """Whether a date has ended everywhere on Earth: it is 12:00 UTC of the next day, or later.

    Args:
        day: the date.
        now: the moment, aware of its time zone.
    """
    return now - datetime.combine(day, time(), UTC) >= _OVER_AFTER


def choose(day: date, key: bytes | None, watch: Stopwatch | None = None) -> DailyHole:
    """The hole of a date: the first of its shuffles that the daily policy admits.

    Args:
        day: the date, from 2026-01-01 on.
        key: the secret of 32 bytes, or None.
        watch: is told of each stage.

    Raises:
        UsageError: the date lies before the first hole, or the key has another size.
        CheckError: a line did not come through its replay; nothing can be published then.
    """
    from pipeline.deals.certify import certify  # it has kernels

    hole_of(day)
    watch = watch or Stopwatch(no_clock)
    for attempt in count():
        deal = daily_candidate(day, attempt, key)
        watch.lap("sampling")
        certified = certify(DAILY, deal, attempt, watch)
        if certified is not None:
            return DailyHole(day, attempt, None if key is None else key_id(key), certified)
    raise AssertionError("the attempts never end")


def solution_bytes(hole: DailyHole) -> bytes:
    """The solution file of a hole."""
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
    """The file that is published for a hole, with the hash of its solution."""
    certified = hole.certified
    deal = certified.deal
    return render(
        {
            "schema": DAILY_SCHEMA,
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
            "attempt": hole.attempt,
            "keyed": hole.key_id is not None,
            "key_id": hole.key_id,
            "versions": dict(DAILY_VERSIONS),
            "solution_sha256": sha256_of(solution_bytes(hole)),
        }
    )


def _steady_document(certified: "CertifiedDeal") -> dict[str, Any]:
    distribution = certified.distribution
    return {
        "mean": round(distribution.mean, _DECIMALS),
        "clear_rate": round(distribution.clear_rate, _DECIMALS),
        "lowest_score": LOWEST_SCORE,
        "probabilities": [round(probability, _DECIMALS) for probability in distribution.probabilities],
    }
