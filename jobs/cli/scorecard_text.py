"""A scorecard as text: holes across, circles and boxes around scores as on paper, the names below."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from pipeline.play.scorecard import BOX, CIRCLE, Entry, Scorecard
from solver.table.score import signed

_MARKED: Final = {CIRCLE: "({})", BOX: "[{}]", None: "{} "}
_HEAD_WIDTH: Final = 7  # running
_HOLE_WIDTH: Final = 6  # (-16), and a blank before it
_TOTAL_WIDTH: Final = 7
_NAME_WIDTH: Final = 14  # Double bogey


def card_lines(card: Scorecard) -> Iterator[str]:
    """A card, line by line."""
    holes, entries = card.round.holes, card.entries
    width = _HEAD_WIDTH + _HOLE_WIDTH * len(holes)

    def row(head: str, cells: Iterable[str], total: object) -> str:
        across = "".join(f"{cell:>{_HOLE_WIDTH}}" for cell in cells)
        return f"{head:<{_HEAD_WIDTH}}{across}".ljust(width) + f"{total:>{_TOTAL_WIDTH}}"

    yield card.round.title
    yield ""
    # Room for a closing bracket, so that digits stand below digits.
    yield row("hole", (f"{hole.hole} " for hole in holes), "total")
    yield row("par", (f"{hole.par} " for hole in holes), card.round.par)
    yield row("score", (_MARKED[entry.mark].format(entry.score) for entry in entries), card.total)
    yield row("running", (f"{signed(entry.running)} " for entry in entries), signed(card.against_par))
    yield ""
    yield from _names(entries)
    yield _outcome(card)


def _names(entries: Sequence[Entry]) -> Iterator[str]:
    """Each name with its holes, best first."""
    against_par = attrgetter("against_par")
    for _, group in groupby(sorted(entries, key=against_par), against_par):
        alike = list(group)
        word = "hole" if len(alike) == 1 else "holes"
        yield f"{alike[0].name:<{_NAME_WIDTH}}{word} {', '.join(str(entry.hole.hole) for entry in alike)}"


def _outcome(card: Scorecard) -> str:
    made = f"{card.total} ({signed(card.against_par)})"
    if card.won is None:
        return f"{len(card.scores)} of {len(card.round.holes)} holes played: {made}"
    return f"{'won' if card.won else 'not won'}: {made} on a par of {card.round.par}"
