"""A Daily hole as a text to share: how well it went and in what rhythm, and nothing that would spoil it.

The bar shows the runs of a line between its draws. It tells no card, no column, and not what could have been
reached.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from pipeline.daily.checks import deal_of
from pipeline.store.documents import Document
from solver.table.moves import run_lengths
from solver.table.replay import replay
from solver.table.rules import rules_named
from solver.table.score import score_name, signed

BLOCKS: Final = "▁▂▃▄▅▆▇█"
_DOT: Final = "·"
_PLAIN_BLOCK: Final = "|"
_PLAIN_DOT: Final = "."


@dataclass(frozen=True, slots=True)
class PlayedDaily:
    """What a player has made of a Daily hole.

    Attributes:
        day: its date.
        hole: its number.
        par: its par.
        score: as it stands where the line ends.
        runs: lengths of the line's runs, as `run_lengths` has them.
    """

    day: date
    hole: int
    par: int
    score: int
    runs: tuple[int, ...]

    @property
    def name(self) -> str:
        """What the score is called: Eagle to Double bogey, the signed number beyond them."""
        return score_name(self.score, self.par)

    @property
    def bar(self) -> str:
        """A block for each run, the higher the longer it is, and a dot for each draw."""
        return _DOT.join(BLOCKS[min(run, len(BLOCKS)) - 1] if run else "" for run in self.runs)

    @property
    def plain_bar(self) -> str:
        """The bar in ASCII: a stroke for each play, and a dot for each draw."""
        return _PLAIN_DOT.join(_PLAIN_BLOCK * run for run in self.runs)

    def text(self, bar: str) -> str:
        """What is shared, on three lines; the last one is the bar."""
        against = signed(self.score - self.par)
        result = f"{against} against par" if self.name == against else f"{self.name} ({against})"
        return f"Fairway Daily hole {self.hole}, {self.day}\n{result}\n{bar}"

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "date": self.day.isoformat(),
            "hole": self.hole,
            "par": self.par,
            "score": self.score,
            "against_par": self.score - self.par,
            "name": self.name,
            "bar": self.bar,
            "text": self.text(self.bar),
        }


def played_daily(daily: Document, line: str) -> PlayedDaily:
    """What a line makes of a Daily hole.

    Args:
        daily: the published document, checked.
        line: the moves; it may end before the hole does.

    Raises:
        LineError: a move is not legal.
    """
    played = replay(deal_of(daily), rules_named(daily["rules"]["name"]), line)
    return PlayedDaily(
        date.fromisoformat(daily["date"]), daily["hole"], daily["par"], played.score, run_lengths(line)
    )
