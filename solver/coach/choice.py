"""Which move to make where several are equally good.

Only moves that reach the best score still possible come into question. Among them the choice goes by this
order of preference:

1. a play goes before a draw;
2. then the play that begins the longest run;
3. then that whose longest run leaves the table most open (as the steady player values plays);
4. then the lowest-numbered column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from solver.coach.analysis import Analysis, MoveValue, analyse
from solver.coach.runs import Run, longest_runs
from solver.table.moves import DRAW, PLAYS


@dataclass(frozen=True)
class Choice:
    """The move that is chosen at a position where some move is legal.

    Attributes:
        analysis: of the position.
        move: the best move that the order of preference puts first.
        runs: the longest run that begins with each legal play.
    """

    analysis: Analysis
    move: MoveValue
    runs: Mapping[str, Run]

    @property
    def is_play(self) -> bool:
        """Whether the move is a play, not a draw."""
        return self.move.move != DRAW

    @property
    def others(self) -> tuple[MoveValue, ...]:
        """The legal moves that were not chosen."""
        return tuple(other for other in self.analysis.moves if other != self.move)

    @property
    def other_plays(self) -> tuple[MoveValue, ...]:
        """The legal plays that were not chosen."""
        return tuple(other for other in self.others if other.move != DRAW)

    @property
    def uncovered(self) -> int | None:
        """Code of the card that the play uncovers; None where the column is empty then, and for a draw."""
        if not self.is_play:
            return None
        after = self.analysis.position.play(self.move.move)
        return after.last_cards[PLAYS.index(self.move.move)]

    @cached_property
    def first_run(self) -> str:
        """This play and those that follow up to the next draw, when each move is the one that is chosen."""
        if not self.is_play:
            return ""
        after = analyse(self.analysis.position.play(self.move.move), self.analysis.rules)
        return self.move.move + (choose(after).first_run if after.moves else "")


def choose(analysis: Analysis) -> Choice:
    """The choice at a position that is not over."""
    runs = longest_runs(analysis.position, analysis.rules)
    best = [value for value in analysis.moves if not value.gives_away]
    plays = [value for value in best if value.move != DRAW]
    # Of equals max keeps the first, the lowest-numbered column; without a play only the draw is left.
    return Choice(analysis, max(plays, key=lambda play: runs[play.move], default=best[0]), runs)
