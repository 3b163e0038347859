"""Scorecards of rounds, and the text with which a player shares a Daily hole.

The shared text consists of the hole and its date, the result (cleared, or how many cards are left, or
unfinished) and a bar with the lengths of the runs between draws. It reveals no card, no column and nothing
about the best score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from pipeline.daily.checks import deal_of
from pipeline.play.rounds import Hole, Round
from pipeline.store.documents import Document
from solver.errors import LineError, UsageError
from solver.table.deal import parse_deal
from solver.table.moves import after, run_lengths
from solver.table.replay import replay
from solver.table.rules import rules_named
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, means_cleared, score_name

CIRCLE: Final = "circle"
BOX: Final = "box"
BLOCKS: Final = "▁▂▃▄▅▆▇█"
_DOT: Final = "·"
_PLAIN_BLOCK: Final = "|"
_PLAIN_DOT: Final = "."

_MADE: Final = ("score", "cleared", "against_par", "name", "mark", "running")  # keys of a played hole


@dataclass(frozen=True, slots=True)
class Entry:
    """A played hole on a card; `running` is the score against par of the round up to and including it."""

    hole: Hole
    score: int
    cleared: bool
    running: int

    @property
    def against_par(self) -> int:
        """The score minus the par of the hole."""
        return self.score - self.hole.par

    @property
    def name(self) -> str:
        """Name of the score: Eagle to Double bogey, otherwise the signed difference."""
        return score_name(self.score, self.hole.par)

    @property
    def mark(self) -> str | None:
        """Mark around the score: `CIRCLE` under par, `BOX` over par, None at par."""
        if not self.against_par:
            return None
        return CIRCLE if self.against_par < 0 else BOX

    def document(self) -> dict[str, Any]:
        """Return the hole and its score as a JSON document."""
        return self.hole.document() | {name: getattr(self, name) for name in _MADE}


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The card of a round.

    Attributes:
        round: the round.
        scores: of its holes, in order; fewer than nine while the round is in progress.
        cleared: whether each of those holes was cleared; None, if nothing but the scores is known, means that
            the scores say so.

    Raises:
        UsageError: there are more scores than holes, or a score is not possible.
    """

    round: Round
    scores: tuple[int, ...]
    cleared: tuple[bool, ...] | None = None

    def __post_init__(self) -> None:
        _check_count(self.round, self.scores)
        for hole, score in zip(self.round.holes, self.scores, strict=False):
            if not LOWEST_SCORE <= score <= HIGHEST_SCORE:
                raise UsageError(
                    f"hole {hole.hole}: {score} is not a score; scores are {LOWEST_SCORE} .. {HIGHEST_SCORE}"
                )
            if score < hole.best_score:
                raise UsageError(
                    f"hole {hole.hole}: {score} is better than {hole.best_score}, the best score that can be"
                    f" reached on deal {hole.deal_number}"
                )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The played holes."""
        entries: list[Entry] = []
        running = 0
        cleared = map(means_cleared, self.scores) if self.cleared is None else self.cleared
        played = self.round.holes[: len(self.scores)]
        for hole, score, is_cleared in zip(played, self.scores, cleared, strict=True):
            running += score - hole.par
            entries.append(Entry(hole, score, is_cleared, running))
        return tuple(entries)

    @property
    def total(self) -> int:
        """Sum of the scores."""
        return sum(self.scores)

    @property
    def against_par(self) -> int:
        """The total minus the par of the played holes."""
        return self.entries[-1].running if self.scores else 0

    @property
    def won(self) -> bool | None:
        """Whether the total is at or under par; None while the round is in progress."""
        return self.against_par <= 0 if len(self.scores) == len(self.round.holes) else None

    def document(self) -> dict[str, Any]:
        """Return the card as a JSON document; holes that have not been played have null scores."""
        played = [entry.document() for entry in self.entries]
        left = [hole.document() | dict.fromkeys(_MADE) for hole in self.round.holes[len(played) :]]
        return self.round.document() | {
            "holes": played + left,
            "played": len(played),
            "total": self.total,
            "against_par": self.against_par,
            "won": self.won,
        }


def scorecard_of(round_: Round, lines: Sequence[str]) -> Scorecard:
    """Return the card of lines on the first holes of a round; each score is the one at the end of its line.

    Raises:
        LineError: a move is not legal; the message names the hole.
        UsageError: there are more lines than holes.
    """
    _check_count(round_, lines)
    rules = rules_named(round_.rules)
    played = []
    for hole, line in zip(round_.holes, lines, strict=False):
        try:
            played.append(replay(parse_deal(hole.deal), rules, line))
        except LineError as error:
            raise error.in_line(f"hole {hole.hole}") from error
    return Scorecard(round_, tuple(each.score for each in played), tuple(each.cleared for each in played))


@dataclass(frozen=True, slots=True)
class PlayedDaily:
    """A Daily hole as a player played it.

    Attributes:
        day: its date.
        hole: its number.
        par: its par.
        score: the score at the end of the line.
        cleared: whether the columns were cleared, which is when the hole is done.
        finished: whether the hole is over: it was cleared, or no legal move is left.
        runs: the lengths of the runs.
    """

    day: date
    hole: int
    par: int
    score: int
    cleared: bool
    finished: bool
    runs: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the score: Eagle to Double bogey, otherwise the signed difference."""
        return score_name(self.score, self.par)

    @property
    def bar(self) -> str:
        """One block per run, whose height shows its length, and one dot per draw."""
        return _DOT.join(BLOCKS[min(run, len(BLOCKS)) - 1] if run else "" for run in self.runs)

    @property
    def plain_bar(self) -> str:
        """The bar in ASCII: one stroke per play and one dot per draw."""
        return _PLAIN_DOT.join(_PLAIN_BLOCK * run for run in self.runs)

    def text(self, bar: str) -> str:
        """Return the text to share: three lines, of which the last is the bar."""
        return f"Fairway Daily hole {self.hole}, {self.day}\n{self.result}\n{bar}"

    @property
    def result(self) -> str:
        """The result in words: `cleared, -2`, `3 left, Birdie`, or `unfinished, 12 left`."""
        if self.cleared:
            return f"cleared, {self.score}"
        return f"{self.score} left, {self.name}" if self.finished else f"unfinished, {self.score} left"

    def document(self) -> dict[str, Any]:
        """Return the text and its parts as a JSON document."""
        return {
            "date": self.day.isoformat(),
            "hole": self.hole,
            "par": self.par,
            "score": self.score,
            "cleared": self.cleared,
            "finished": self.finished,
            "against_par": self.score - self.par,
            "name": self.name,
            "bar": self.bar,
            "text": self.text(self.bar),
        }


def played_daily(daily: Document, line: str) -> PlayedDaily:
    """Play a line, which need not finish the hole, on the checked document of a Daily hole.

    Raises:
        LineError: a move is not legal.
    """
    deal, rules = deal_of(daily), rules_named(daily["rules"]["name"])
    played = replay(deal, rules, line)
    return PlayedDaily(
        day=date.fromisoformat(daily["date"]),
        hole=daily["hole"],
        par=daily["par"],
        score=played.score,
        cleared=played.cleared,
        finished=not after(deal, rules, line).legal_moves(rules),
        runs=run_lengths(line),
    )


def _check_count(round_: Round, scores: Sequence[object]) -> None:
    if len(scores) > len(round_.holes):
        raise UsageError(f"more scores than holes; a round has {len(round_.holes)} holes")
