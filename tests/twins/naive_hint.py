"""The slow, obvious twin of hints: moves, runs and reasons as their definitions say.

It shares no code with the modules that make hints, nor their table of rules. Positions are solved by a given
function: the naive solver for small tables, the search for large ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from solver.table.moves import Position
from tests.twins.naive import RANKS, fits

Solve = Callable[[Position, str], int]  # best score still possible
Values = dict[str, Any]

CODES = (  # in order of precedence
    *("cannot_clear", "only_clear", "nothing_fits", "only_move", "draw_better"),
    *("uncovers", "run_ender", "longest_run", "saves_stock", "keeps_best"),
)


def legal(position: Position, rules: str) -> str:
    """Return the legal moves, columns first."""
    return plays(position, rules) + ("D" if position.draws < 16 and any(position.heights) else "")


def plays(position: Position, rules: str) -> str:
    """Return the columns whose last card fits."""
    lasts = [
        column[:height][-1:] for column, height in zip(position.deal.columns, position.heights, strict=True)
    ]
    return "".join(
        str(number)
        for number, last in enumerate(lasts, start=1)
        if last and fits(rules, last[0] % 13, position.top % 13)
    )


def ends_of_runs(position: Position, rules: str) -> Iterator[tuple[int, Position]]:
    """Yield each way to continue until nothing fits: the number of plays and the final position."""
    moves = plays(position, rules)
    if not moves:
        yield 0, position
    for move in moves:
        for length, end in ends_of_runs(position.play(move), rules):
            yield length + 1, end


def openness(position: Position, rules: str) -> int:
    """Return the number of ranks on which some last card could be played."""
    lasts = [
        column[height - 1]
        for column, height in zip(position.deal.columns, position.heights, strict=True)
        if height
    ]
    return sum(any(fits(rules, last % 13, rank) for last in lasts) for rank in range(13))


@dataclass
class Expected:
    """The move to make and the true statements about it, the first of which is its reason."""

    move: str | None
    best_score: int
    true: dict[str, Values]


class Twin:
    """A position that is not over, the move to make there, and the true statements about it."""

    def __init__(self, position: Position, rules: str, solve: Solve) -> None:
        self.position, self.rules, self.solve = position, rules, solve
        self.after = {move: position.play(move) for move in legal(position, rules)}
        self.score = {move: solve(after, rules) for move, after in self.after.items()}
        self.best = min(self.score.values())
        self.runs = {
            move: max((1 + length, openness(end, rules)) for length, end in ends_of_runs(after, rules))
            for move, after in self.after.items()
            if move != "D"
        }
        best = [move for move in self.after if self.score[move] == self.best]
        self.move = min(best, key=lambda move: (move == "D", [-n for n in self.runs.get(move, ())], move))

    def expected(self) -> Expected:
        """Return all true statements, in order of precedence."""
        found = {code: getattr(self, code)() for code in CODES}
        return Expected(
            self.move, self.best, {code: values for code, values in found.items() if values is not None}
        )

    def first_run(self) -> str:
        """Return the plays up to the next draw if the chosen move is made every time."""
        if self.move == "D":
            return ""
        after = self.after[self.move]
        return self.move + (
            Twin(after, self.rules, self.solve).first_run() if legal(after, self.rules) else ""
        )

    def cannot_clear(self) -> Values | None:
        return {"cards_left": self.best} if self.best > 0 else None

    def only_clear(self) -> Values | None:
        clearing = [move for move, score in self.score.items() if score <= 0]
        return {} if clearing == [self.move] and len(self.after) > 1 else None

    def nothing_fits(self) -> Values | None:
        return {} if list(self.after) == ["D"] else None

    def only_move(self) -> Values | None:
        return {} if len(self.after) == 1 and self.move != "D" else None

    def draw_better(self) -> Values | None:
        if self.move != "D" or not self.runs:
            return None
        return {"gives_away": min(self.score[play] for play in self.runs) - self.best}

    def uncovers(self) -> Values | None:
        found = self.needing()
        if found is None:
            return None
        uncovered, card, column = found
        return {"rank": RANKS[uncovered % 13], "needed_by_rank": RANKS[card % 13], "column": column + 1}

    def needing(self) -> tuple[int, int, int] | None:
        """Return the card that the move uncovers, and a card that needs it with its column."""
        if self.move == "D" or self.position.heights[int(self.move) - 1] < 2:
            return None
        played = int(self.move) - 1
        uncovered = self.position.deal.columns[played][self.position.heights[played] - 2]
        for column in range(7):
            for index in range(self.position.heights[column] - 1, -1, -1):
                if self.supporters(column, index) == [uncovered]:
                    return uncovered, self.position.deal.columns[column][index], column
        return None

    def supporters(self, column: int, index: int) -> list[int]:
        """Return the fitting cards that could be the waste top when a column card is played."""
        card = self.position.deal.columns[column][index]
        possible = [
            self.position.deal.columns[c][i]
            for c in range(7)
            for i in range(self.position.heights[c])
            if c != column or i > index
        ]
        if index == self.position.heights[column] - 1:
            possible.append(self.position.top)
        possible += self.position.deal.stock[self.position.draws :]
        return [other for other in possible if fits(self.rules, card % 13, other % 13)]

    def run_ender(self) -> Values | None:
        for play in self.runs:
            lost = self.score[play] - self.best
            if lost == 0 or self.move == "D" or plays(self.after[play], self.rules):
                continue
            run = self.first_run()
            if run[-1] == play and play not in run[:-1]:
                return {"rank": RANKS[self.after[play].top % 13], "column": int(play), "gives_away": lost}
        return None

    def longest_run(self) -> Values | None:
        if self.move == "D" or len(self.runs) == 1:
            return None
        length = self.runs[self.move][0]
        others = [run[0] for play, run in self.runs.items() if play != self.move]
        return {"length": length} if length > max(others) and length == len(self.first_run()) else None

    def saves_stock(self) -> Values | None:
        lost = self.score.get("D", self.best) - self.best
        return {"stock_cards": lost} if lost > 0 and self.score["D"] <= 0 else None

    def keeps_best(self) -> Values | None:
        return {"best_score": self.best}


def expected(position: Position, rules: str, solve: Solve) -> Expected:
    """Return the move to make from any position, and the true statements about it."""
    if legal(position, rules):
        return Twin(position, rules, solve).expected()
    left = sum(position.heights)
    if left:
        return Expected(None, left, {"stuck": {"cards_left": left}})
    return Expected(None, position.draws - 16, {"cleared": {"score": position.draws - 16}})
