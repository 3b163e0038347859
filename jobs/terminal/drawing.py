"""Draws the table as a player sees it: seven columns, with the playable card lowest, the waste and the stock.

Suits are symbols if the output can show them; on a terminal, red suits are red.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from rich.text import Text

from jobs.terminal.output import can_carry
from jobs.terminal.tables import console
from solver.cards import RANK_LETTERS, SUIT_LETTERS, card_name, rank_of, suit_of
from solver.table.deal import COLUMN_COUNT
from solver.table.moves import DRAW, Position
from solver.table.rules import Rules

_SYMBOLS: Final = "♣♦♥♠"  # in the order of SUIT_LETTERS
_RED_SUITS: Final = (1, 2)
_RED: Final = "red"
_FANCY: Final = ("╭────╮", "│", "╰────╯")
_PLAIN: Final = ("+----+", "|", "+----+")
_NO_CARD: Final = " " * len(_PLAIN[0])


def print_table(position: Position, rules: Rules) -> None:
    """Print the table at a position, with symbols if standard output can show them."""
    console().print(draw_table(position, rules, symbols=can_carry(_SYMBOLS + "".join(_FANCY))))


def draw_table(position: Position, rules: Rules, *, symbols: bool) -> Text:
    """Draw the table at a position.

    Args:
        position: the start of a deal, or where a line leads.
        rules: decide which columns can be played.
        symbols: draw suits and edges with symbols instead of ASCII characters.
    """
    text = Text()
    dealt = zip(position.deal.columns, position.heights, strict=True)
    columns = [_column(cards[:height], symbols) for cards, height in dealt]
    for row in zip_longest(*columns, fillvalue=Text(_NO_CARD)):
        line = Text(" ").join((Text(), *row))
        line.rstrip()
        text.append_text(line).append("\n")
    text.append("".join(f"{number:>4}   " for number in range(1, COLUMN_COUNT + 1)).rstrip() + "\n\n")
    text.append(" waste   ").append_text(_card(position.top, symbols)).append("\n stock  ")
    for card in position.undrawn:
        text.append(" ").append_text(_card(card, symbols))
    text.append("   (drawn from the left)" if position.undrawn else " used up")
    text.append(f"\n plays   {_plays(position, rules)}")
    return text


def move_text(position: Position, move: str) -> str:
    """Return a move for people, with the card that it puts on the waste."""
    card = card_name(position.play(move).top)
    return f"draw, {card}" if move == DRAW else f"column {move}, {card}"


def _column(cards: Sequence[int], symbols: bool) -> list[Text]:
    """Return a column from its upper edge to its lower one; an empty list if it has no cards."""
    top, side, bottom = _FANCY if symbols else _PLAIN
    drawn = [Text.assemble(f"{side} ", _card(card, symbols), f" {side}") for card in cards]
    return [Text(top), *drawn, Text(bottom)] if cards else []


def _card(card: int, symbols: bool) -> Text:
    suit = suit_of(card)
    letters = _SYMBOLS if symbols else SUIT_LETTERS
    return Text(RANK_LETTERS[rank_of(card)] + letters[suit], style=_RED if suit in _RED_SUITS else "")


def _plays(position: Position, rules: Rules) -> str:
    columns = position.legal_moves(rules).removesuffix(DRAW)
    word = "column" if len(columns) == 1 else "columns"
    playable = f"{word} {', '.join(columns)}" if columns else "no column"
    return f"{playable} under {rules.name} rules"
