"""The slow, obvious solver, written from the definitions only.

It visits every position that can be reached, (heights, waste top, draws), without pruning, and builds line v1
backwards as its definition says. It shares no code with the fast search, not even the table of rules.
"""

from dataclasses import dataclass

from solver.table.moves import Position

RANKS = "A23456789TJQK"
ON_KING = {"relaxed": "QA", "golf": "Q", "dead_king": ""}
ON_ACE = {"relaxed": "2K", "golf": "2", "dead_king": "2"}

Heights = tuple[int, ...]
Fewest = dict[Heights, dict[int, int]]  # F of line v1: heights, then rank of the waste top, to draws


@dataclass(frozen=True)
class Answer:
    """The result, which the fast search must find, too; line and draws are those from the position."""

    cleared: bool
    best_score: int
    line: str
    draws: int


def solve(position: Position, rules: str) -> Answer:
    """Return the best score, and the line v1 that reaches it, from any position."""
    hole = Hole(position, rules)
    fewest = hole.fewest_draws()
    left, _, heights = min((sum(heights), code(heights), heights) for heights in fewest)
    line = hole.line_to(heights, fewest)
    score = left if left > 0 else position.draws + line.count("D") - 16
    return Answer(left == 0, score, line, line.count("D"))


def code(heights: Heights) -> int:
    """Return the sort key of heights with equally many cards: column 1 counts least."""
    return sum(height * 6**column for column, height in enumerate(heights))


def fits(rules: str, rank: int, top: int) -> bool:
    """Whether a rank may be played on another."""
    if RANKS[top] == "K":
        return RANKS[rank] in ON_KING[rules]
    if RANKS[top] == "A":
        return RANKS[rank] in ON_ACE[rules]
    return abs(rank - top) == 1


class Hole:
    """The ranks of a deal, what may be played on what, and the starting position."""

    def __init__(self, position: Position, rules: str) -> None:
        self.start = position.heights
        self.start_top = (position.top % 13, position.draws)
        self.columns = [[card % 13 for card in column] for column in position.deal.columns]
        self.pile = [card % 13 for card in (position.deal.waste, *position.deal.stock)]
        self.takes = [{rank for rank in range(13) if fits(rules, rank, top)} for top in range(13)]

    def fewest_draws(self) -> Fewest:
        """Return F for all heights that can be reached, including the start, which needs no play."""
        fewest: Fewest = {}
        level = {self.start: {self.start_top}}  # heights to each (waste top, draws) that a play can leave
        while level:
            below: dict[Heights, set[tuple[int, int]]] = {}
            for heights, played in level.items():
                tops = {top for top, _ in played}
                fewest[heights] = {top: min(draws for t, draws in played if t == top) for top in tops}
                for child, reached in self.plays(heights, played | self.drawn_on(played)):
                    below.setdefault(child, set()).update(reached)
            level = below
        return fewest

    def drawn_on(self, played: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """Return each (waste top, draws) after at least one draw."""
        first = min(draws for _, draws in played) + 1
        return {(self.pile[draws], draws) for draws in range(first, len(self.pile))}

    def plays(
        self, heights: Heights, tops: set[tuple[int, int]]
    ) -> list[tuple[Heights, set[tuple[int, int]]]]:
        """Return, for each possible play, the heights after it and each (waste top, draws) there."""
        children = []
        for column, height in enumerate(heights):
            if height == 0:
                continue
            rank = self.columns[column][height - 1]
            reached = {(rank, draws) for top, draws in tops if rank in self.takes[top]}
            if reached:
                children.append(((*heights[:column], height - 1, *heights[column + 1 :]), reached))
        return children

    def line_to(self, heights: Heights, fewest: Fewest) -> str:
        """Return line v1, built backwards from the heights where it ends."""
        draws, rank = min((draws, rank) for rank, draws in fewest[heights].items())
        line = ""
        while heights != self.start:
            column, heights, rank = self.step_back(heights, rank, draws, fewest)
            line = "D" * (draws - fewest[heights][rank]) + str(column + 1) + line
            draws = fewest[heights][rank]
        return line

    def step_back(self, heights: Heights, rank: int, draws: int, fewest: Fewest) -> tuple[int, Heights, int]:
        """Return the column of the last play, the heights before it, and the rank of the waste top there."""
        for column, height in enumerate(heights):
            if height == 5 or self.columns[column][height] != rank:
                continue
            before = (*heights[:column], height + 1, *heights[column + 1 :])
            earlier = fewest.get(before, {})
            without_draw = [top for top, k in earlier.items() if k == draws and rank in self.takes[top]]
            if without_draw:
                return column, before, min(without_draw)
            # The start needs no special case: its only entry has its own number of draws.
            if earlier and min(earlier.values()) < draws and rank in self.takes[self.pile[draws]]:
                return column, before, min((k, top) for top, k in earlier.items())[1]
        raise AssertionError(f"nothing leaves heights {heights} with rank {rank} after {draws} draws")
