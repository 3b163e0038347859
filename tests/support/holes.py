"""Random deals, positions and lines for tests, from a given random generator."""

import random

from solver.cards import DECK_SIZE
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, STOCK_SIZE, Deal
from solver.table.moves import DRAW, Position, after, start
from solver.table.rules import Rules


def random_deal(dice: random.Random) -> Deal:
    """Return any deal, each with the same probability."""
    return Deal(tuple(dice.sample(range(DECK_SIZE), DECK_SIZE)))


def random_line(deal: Deal, rules: Rules, dice: random.Random, drawing: float) -> str:
    """Return a whole hole of random legal moves.

    Args:
        deal: the deal.
        rules: the King rule.
        dice: the random generator.
        drawing: probability of a draw when a play is possible, too.
    """
    line, position = "", start(deal)
    while legal := position.legal_moves(rules):
        plays = legal.replace(DRAW, "")
        draws = DRAW in legal and (not plays or dice.random() < drawing)
        line += DRAW if draws else dice.choice(plays)
        position = position.play(line[-1])
    return line


def any_position(dice: random.Random, cards_left: int) -> Position:
    """Return a position with so many cards in the columns, which need not be reachable."""
    deal = random_deal(dice)
    heights = [0] * COLUMN_COUNT
    for _ in range(cards_left):
        column = dice.choice([c for c in range(COLUMN_COUNT) if heights[c] < COLUMN_HEIGHT])
        heights[column] += 1
    draws = dice.randrange(STOCK_SIZE + 1)
    gone = [card for column, height in zip(deal.columns, heights, strict=True) for card in column[height:]]
    return Position(deal, tuple(heights), dice.choice([deal.waste, *deal.stock[:draws], *gone]), draws)


def random_position(rules: Rules, dice: random.Random) -> tuple[Position, str]:
    """Return a random position of a random hole, from start to end, and the line that leads to it."""
    deal = random_deal(dice)
    whole = random_line(deal, rules, dice, dice.choice((0.0, 0.1, 0.3)))
    line = whole[: dice.randrange(len(whole) + 1)]
    return after(deal, rules, line), line
