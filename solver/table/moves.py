"""Positions on the table and the moves between them, as a player meets them.

For the exact search and the steady player a position is a few numbers in a kernel; here it is a value with
its cards, to be shown, to be continued from and to be checked against.

Whoever asks about a position describes it by a deal, the rules and the line so far, which `after` plays. Undo
is a shorter line.
"""

from dataclasses import dataclass, replace
from typing import Final

from solver.cards import DECK_SIZE, rank_of
from solver.errors import LineError, UsageError
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, STOCK_SIZE, Deal
from solver.table.rules import Rules

DRAW: Final = "D"
PLAYS: Final = "".join(str(number) for number in range(1, COLUMN_COUNT + 1))


@dataclass(frozen=True, slots=True)
class Position:
    """What lies on the table at one moment of a hole.

    Attributes:
        deal: the deal it was reached from.
        heights: how many cards each of the seven columns has left, 0 .. 5.
        top: card code of the waste top.
        draws: stock cards drawn so far, 0 .. 16.

    Raises:
        UsageError: these numbers are no position of the deal.
    """

    deal: Deal
    heights: tuple[int, ...]
    top: int
    draws: int

    def __post_init__(self) -> None:
        if len(self.heights) != COLUMN_COUNT or not all(0 <= h <= COLUMN_HEIGHT for h in self.heights):
            raise UsageError(f"heights {self.heights} are not {COLUMN_COUNT} of 0 .. {COLUMN_HEIGHT}")
        if not 0 <= self.draws <= STOCK_SIZE:
            raise UsageError(f"{self.draws} draws are not in 0 .. {STOCK_SIZE}")
        lying = [column[:height] for column, height in zip(self.deal.columns, self.heights, strict=True)]
        if not 0 <= self.top < DECK_SIZE or any(self.top in cards for cards in (*lying, self.undrawn)):
            raise UsageError(f"card code {self.top} cannot be the waste top: it has not come there yet")

    @property
    def cards_left(self) -> int:
        """Cards left in the columns."""
        return sum(self.heights)

    @property
    def stock_left(self) -> int:
        """Stock cards not drawn yet."""
        return STOCK_SIZE - self.draws

    @property
    def undrawn(self) -> tuple[int, ...]:
        """The stock cards not drawn yet, in draw order."""
        return self.deal.stock[self.draws :]

    @property
    def last_cards(self) -> tuple[int | None, ...]:
        """The card of each column that could be played next; None where the column is empty."""
        return tuple(
            column[height - 1] if height else None
            for column, height in zip(self.deal.columns, self.heights, strict=True)
        )

    def legal_moves(self, rules: Rules) -> str:
        """The legal moves, `1` .. `7` ascending and then `D`; empty once the hole is over.

        Drawing is legal while a play is still possible, but not when the columns are empty.
        """
        top = rank_of(self.top)
        plays = "".join(
            move
            for move, card in zip(PLAYS, self.last_cards, strict=True)
            if card is not None and rules.allows(rank_of(card), top)
        )
        return plays + DRAW if self.stock_left and self.cards_left else plays

    def play(self, move: str) -> "Position":
        """The position after a move, whatever the rules say about it.

        Raises:
            UsageError: there is no such move, or no card to make it with.
        """
        if move == DRAW:
            if not self.stock_left:
                raise UsageError(f"move {move!r} is not possible: the stock is used up")
            return replace(self, top=self.deal.stock[self.draws], draws=self.draws + 1)
        column = PLAYS.index(move) if move and move in PLAYS and len(move) == 1 else None
        card = None if column is None else self.last_cards[column]
        if column is None or card is None:
            raise UsageError(f"move {move!r} is not possible: it must be {DRAW} or a column that has cards")
        heights = tuple(height - (place == column) for place, height in enumerate(self.heights))
        return replace(self, heights=heights, top=card)


def start(deal: Deal) -> Position:
    """The position as it is dealt."""
    return Position(deal, (COLUMN_HEIGHT,) * COLUMN_COUNT, deal.waste, 0)


def after(deal: Deal, rules: Rules, line: str) -> Position:
    """The position that a line leads to from the deal.

    Raises:
        LineError: at the first move that the rules do not allow.
    """
    position = start(deal)
    for index, move in enumerate(line):
        legal = position.legal_moves(rules)
        if move not in legal:
            raise LineError(index, move, legal)
        position = position.play(move)
    return position


def run_lengths(line: str) -> tuple[int, ...]:
    """How many plays a line has before its first draw, between each two, and after its last; 0 for none."""
    return tuple(map(len, line.split(DRAW)))
