"""The choice between moves that are equally good.

Only moves that keep the best score still possible are considered. Among them the order of preference is:

1. a play before a draw;
2. the play that begins the longest run;
3. the play whose longest run leaves the table most open (as the steady player values plays);
4. the lowest-numbered column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from solver.coach.analysis import Analysis, MoveValue, analyse
from solver.coach.runs import Run, longest_runs
from solver.table.moves import DRAW, PLAYS


@dataclass(frozen=True)
class Choice:
    """The move chosen at a position that has a legal move.

    Attributes:
        analysis: the analysed position.
        move: the first of the best moves in the order of preference.
        runs: for each legal play, the longest run that begins with it.
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
        """Code of the card that the play uncovers; None for a draw, or if the play empties its column."""
        if not self.is_play:
            return None
        after = self.analysis.position.play(self.move.move)
        return after.last_cards[PLAYS.index(self.move.move)]

    @cached_property
    def first_run(self) -> str:
        """This play and those that follow it before the next draw, if the chosen move is made every time."""
        if not self.is_play:
            return ""
        after = analyse(self.analysis.position.play(self.move.move), self.analysis.rules)
        return self.move.move + (choose(after).first_run if after.moves else "")


def choose(analysis: Analysis) -> Choice:
    """Choose a move at a position that is not over."""
    runs = longest_runs(analysis.position, analysis.rules)
    best = [value for value in analysis.moves if not value.gives_away]
    plays = [value for value in best if value.move != DRAW]
    # Of equal plays, max keeps the first: the lowest-numbered column. Without a play only the draw is left.
    return Choice(analysis, max(plays, key=lambda play: runs[play.move], default=best[0]), runs)
