"""Positions and the moves between them, as a player sees them.

Here a position is a value with its cards, for display, analysis and tests; in the kernels it is a few
numbers. A caller describes a position by a deal, the rules and the line so far, which
`after` plays. To undo a move, use a shorter line.
"""

from dataclasses import dataclass, replace
from typing import Final

from solver.cards import DECK_SIZE, rank_of
from solver.errors import LineError, UsageError
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, STOCK_SIZE, TABLEAU_SIZE, Deal
from solver.table.rules import Rules

DRAW: Final = "D"
PLAYS: Final = "".join(str(number) for number in range(1, COLUMN_COUNT + 1))
MAX_MOVES: Final = TABLEAU_SIZE + STOCK_SIZE


@dataclass(frozen=True, slots=True)
class Position:
    """The table at one moment of a hole.

    Attributes:
        deal: the deal it was reached from.
        heights: how many cards each of the seven columns has left, 0 .. 5.
        top: card code of the waste top.
        draws: stock cards drawn so far, 0 .. 16.

    Raises:
        UsageError: if these numbers are not a position of the deal.
    """

    deal: Deal
    heights: tuple[int, ...]
    top: int
    draws: int

    def __post_init__(self) -> None:
        if len(self.heights) != COLUMN_COUNT or not all(0 <= h <= COLUMN_HEIGHT for h in self.heights):
            raise UsageError(f"heights {self.heights} are not {COLUMN_COUNT} numbers in 0 .. {COLUMN_HEIGHT}")
        if not 0 <= self.draws <= STOCK_SIZE:
            raise UsageError(f"{self.draws} draws are not in 0 .. {STOCK_SIZE}")
        remaining = [column[:height] for column, height in zip(self.deal.columns, self.heights, strict=True)]
        if not 0 <= self.top < DECK_SIZE or any(self.top in cards for cards in (*remaining, self.undrawn)):
            raise UsageError(
                f"card code {self.top} cannot be the waste top: it is still to be played or drawn"
            )

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
        """The last card of each column, which can be played next; None if the column is empty."""
        return tuple(
            column[height - 1] if height else None
            for column, height in zip(self.deal.columns, self.heights, strict=True)
        )

    def legal_moves(self, rules: Rules) -> str:
        """Return the legal moves, `1` .. `7` ascending and then `D`; empty if the hole is over.

        A player may draw while a play is still possible, but not when the columns are empty.
        """
        top = rank_of(self.top)
        plays = "".join(
            move
            for move, card in zip(PLAYS, self.last_cards, strict=True)
            if card is not None and rules.allows(rank_of(card), top)
        )
        return plays + DRAW if self.stock_left and self.cards_left else plays

    def play(self, move: str) -> "Position":
        """Return the position after a move, without checking it against the rules.

        Raises:
            UsageError: if there is no such move, or no card to make it with.
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
    """Return the position at the start of a deal."""
    return Position(deal, (COLUMN_HEIGHT,) * COLUMN_COUNT, deal.waste, 0)


def after(deal: Deal, rules: Rules, line: str) -> Position:
    """Return the position after a line of moves from the start of a deal.

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
    """Return the number of plays before the first draw, between draws, and after the last draw."""
    return tuple(map(len, line.split(DRAW)))
