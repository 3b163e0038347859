"""The table as it lies before a player: seven columns with their playable cards below, waste and stock.

Suits are drawn as symbols where the output can carry them, red suits red where it is a terminal.
"""

from typing import TYPE_CHECKING, Final

from jobs.cli.output import can_carry
from solver.cards import RANK_LETTERS, SUIT_LETTERS, rank_of, suit_of
from solver.deal import COLUMN_COUNT, Deal
from solver.moves import DRAW, start
from solver.rules import Rules

if TYPE_CHECKING:  # it takes longer to load than help takes to print
    from rich.text import Text

_SYMBOLS: Final = "♣♦♥♠"  # in the order of SUIT_LETTERS
_RED_SUITS: Final = (1, 2)
_RED: Final = "red"
_FANCY: Final = ("╭────╮", "│", "╰────╯")
_PLAIN: Final = ("+----+", "|", "+----+")


def can_draw_symbols() -> bool:
    """Whether standard output can carry the symbols of the suits and the edges of cards."""
    return can_carry(_SYMBOLS + "".join(_FANCY))


def draw_table(deal: Deal, rules: Rules, *, symbols: bool) -> "Text":
    """Draw a deal.

    Args:
        deal: the deal.
        rules: say which columns can be played at once.
        symbols: draw suits and edges with symbols, not letters.
    """
    from rich.text import Text

    top, side, bottom = _FANCY if symbols else _PLAIN
    text = Text()
    text.append(_repeated(top))
    for row in zip(*deal.columns, strict=True):
        for card in row:
            text.append(f" {side} ").append_text(_card(card, symbols)).append(f" {side}")
        text.append("\n")
    text.append(_repeated(bottom))
    text.append("".join(f"{number:>4}   " for number in range(1, COLUMN_COUNT + 1)).rstrip() + "\n\n")
    text.append(" waste   ").append_text(_card(deal.waste, symbols)).append("\n stock  ")
    for card in deal.stock:
        text.append(" ").append_text(_card(card, symbols))
    text.append(f"   (drawn from the left)\n plays   {_plays(deal, rules)}")
    return text


def _repeated(edge: str) -> str:
    return f" {edge}" * COLUMN_COUNT + "\n"


def _card(card: int, symbols: bool) -> "Text":
    from rich.text import Text

    suit = suit_of(card)
    letters = _SYMBOLS if symbols else SUIT_LETTERS
    return Text(RANK_LETTERS[rank_of(card)] + letters[suit], style=_RED if suit in _RED_SUITS else "")


def _plays(deal: Deal, rules: Rules) -> str:
    columns = start(deal).legal_moves(rules).removesuffix(DRAW)
    word = "column" if len(columns) == 1 else "columns"
    found = f"{word} {', '.join(columns)}" if columns else "no column"
    return f"{found} under the rules {rules.name}"
