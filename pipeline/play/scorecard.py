"""Scorecards: what scores on the holes of a round come to against par, and whether the round is won."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipeline.deals.levels import level_named
from pipeline.play.rounds import Hole, Round
from solver.errors import LineError, UsageError
from solver.table.deal import parse_deal
from solver.table.replay import replay
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, score_name

CIRCLE: Final = "circle"
BOX: Final = "box"

_MADE: Final = ("score", "against_par", "name", "mark", "running")  # what a card says of a hole


@dataclass(frozen=True, slots=True)
class Entry:
    """A hole that has been played, as it stands on the card.

    Attributes:
        hole: the hole.
        score: what was made of it.
        running: the score against par of the round up to this hole.
    """

    hole: Hole
    score: int
    running: int

    @property
    def against_par(self) -> int:
        """The score against the hole's par."""
        return self.score - self.hole.par

    @property
    def name(self) -> str:
        """What the score is called: Eagle to Double bogey, the signed number beyond them."""
        return score_name(self.score, self.hole.par)

    @property
    def mark(self) -> str | None:
        """What is drawn around the score: `CIRCLE` under par, `BOX` over it, nothing at par."""
        if not self.against_par:
            return None
        return CIRCLE if self.against_par < 0 else BOX

    def document(self) -> dict[str, Any]:
        """The hole for programs, with what was made of it."""
        return self.hole.document() | {name: getattr(self, name) for name in _MADE}


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The card of a round.

    Attributes:
        round: the round.
        scores: of its holes in the order they are played; fewer than it has while it is being played.

    Raises:
        UsageError: there are more scores than holes, or one cannot be.
    """

    round: Round
    scores: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_count(self.round, self.scores)
        for hole, score in zip(self.round.holes, self.scores, strict=False):
            if not LOWEST_SCORE <= score <= HIGHEST_SCORE:
                raise UsageError(
                    f"hole {hole.hole}: {score} is no score; scores are {LOWEST_SCORE} .. {HIGHEST_SCORE}"
                )
            if score < hole.best_score:
                raise UsageError(
                    f"hole {hole.hole}: {score} is better than {hole.best_score}, the best score that can be"
                    f" reached on deal {hole.deal_number}"
                )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The holes that have been played."""
        entries: list[Entry] = []
        running = 0
        for hole, score in zip(self.round.holes, self.scores, strict=False):
            running += score - hole.par
            entries.append(Entry(hole, score, running))
        return tuple(entries)

    @property
    def total(self) -> int:
        """All scores together."""
        return sum(self.scores)

    @property
    def against_par(self) -> int:
        """The total against the par of the holes that have been played."""
        return self.entries[-1].running if self.scores else 0

    @property
    def won(self) -> bool | None:
        """Whether the total is at or under par; None while holes are left."""
        return self.against_par <= 0 if len(self.scores) == len(self.round.holes) else None

    def document(self) -> dict[str, Any]:
        """The card for programs: the round with what was made of its holes, null where they are left."""
        played = [entry.document() for entry in self.entries]
        left = [hole.document() | dict.fromkeys(_MADE) for hole in self.round.holes[len(played) :]]
        return self.round.document() | {
            "holes": played + left,
            "played": len(played),
            "total": self.total,
            "against_par": self.against_par,
            "won": self.won,
        }


def scores_of(round_: Round, lines: Sequence[str]) -> tuple[int, ...]:
    """What lines make of the first holes of a round: the score of each as it stands where its line ends.

    Raises:
        LineError: a move is not legal; it says on which hole.
        UsageError: there are more lines than holes.
    """
    _check_count(round_, lines)
    rules = level_named(round_.level).rules
    scores = []
    for hole, line in zip(round_.holes, lines, strict=False):
        try:
            scores.append(replay(parse_deal(hole.deal), rules, line).score)
        except LineError as error:
            raise error.in_line(f"hole {hole.hole}") from error
    return tuple(scores)


def _check_count(round_: Round, made: Sequence[object]) -> None:
    if len(made) > len(round_.holes):
        raise UsageError(f"a round has {len(round_.holes)} holes; there are scores for more")
