"""The independent check of a line: the cards are dealt and moved one by one, as on a real table.

It shares no code with `solver.table.moves` or any search, so that it cannot repeat a mistake made there. No
deal is written or published before its line has been replayed.
"""

from dataclasses import dataclass

from solver.cards import rank_of
from solver.errors import LineError
from solver.table.deal import COLUMN_HEIGHT, Deal
from solver.table.rules import Rules


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a line.

    Attributes:
        cleared: whether the columns are empty.
        cards_left: cards left in the columns.
        draws: stock cards drawn.
        score: the score at the end of the line: cards left or, if cleared, minus the stock cards not drawn.
    """

    cleared: bool
    cards_left: int
    draws: int
    score: int


def replay(deal: Deal, rules: Rules, line: str) -> Replay:
    """Play a line move by move from the deal, checking each move against the rules.

    Args:
        deal: the deal.
        rules: which ranks may be played on which.
        line: `1` .. `7` for a play from that column, `D` for a draw; it may end before the hole is over.

    Raises:
        LineError: at the first move that is not legal; it lists the moves that were.
    """
    columns = {str(number): list(map(rank_of, cards)) for number, cards in enumerate(deal.columns, start=1)}
    stock = list(map(rank_of, reversed(deal.stock)))
    top, left, fitting = rank_of(deal.waste), len(columns) * COLUMN_HEIGHT, rules.plays_on
    for index, move in enumerate(line):
        cards = columns.get(move)
        if cards and cards[-1] in fitting[top]:
            top = cards.pop()
            left -= 1
        elif move == "D" and stock and left:
            top = stock.pop()
        else:
            legal = [number for number, cards in columns.items() if cards and cards[-1] in fitting[top]]
            raise LineError(index, move, "".join((*legal, *("D" if stock and left else ""))))
    draws = len(deal.stock) - len(stock)
    return Replay(cleared=left == 0, cards_left=left, draws=draws, score=left or -len(stock))
