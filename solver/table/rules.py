"""The King rules, one row each; no other module treats a King or an Ace as special.

Names and meanings follow PySolFC's Golf family. A new King rule is a new row in `RULES`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from solver.cards import ACE, KING, RANK_COUNT, RANK_LETTERS
from solver.errors import UsageError

_MAX_SHOWN: Final = 30


@dataclass(frozen=True)
class Rules:
    """Which ranks may be played on which.

    Between the Ace and the King, the two adjacent ranks may be played on a card; the rules differ in what may
    be played on an Ace and on a King.

    Attributes:
        name: its name in PySolFC.
        on_king: rank letters that may be played on a King.
        on_ace: rank letters that may be played on an Ace.
    """

    name: str
    on_king: str
    on_ace: str

    @cached_property
    def plays_on(self) -> tuple[tuple[int, ...], ...]:
        """For each rank of the waste top, the ranks that may be played on it, ascending."""
        rows: list[tuple[int, ...]] = [(rank - 1, rank + 1) for rank in range(RANK_COUNT)]
        rows[ACE] = tuple(RANK_LETTERS.index(letter) for letter in self.on_ace)
        rows[KING] = tuple(RANK_LETTERS.index(letter) for letter in self.on_king)
        return tuple(tuple(sorted(row)) for row in rows)

    @cached_property
    def supporters(self) -> tuple[tuple[int, ...], ...]:
        """For each rank, the waste tops on which it may be played, ascending: the inverse of `plays_on`."""
        ranks = range(RANK_COUNT)
        return tuple(tuple(top for top in ranks if self.allows(rank, top)) for rank in ranks)

    def allows(self, rank: int, top: int) -> bool:
        """Whether a card of `rank` may be played on a waste top of rank `top`."""
        return rank in self.plays_on[top]


RULES: Final = {
    row.name: row
    for row in (
        Rules("relaxed", on_king="QA", on_ace="2K"),
        Rules("golf", on_king="Q", on_ace="2"),
        Rules("dead_king", on_king="", on_ace="2"),
    )
}


def rules_named(name: str) -> Rules:
    """Return the row of `RULES` with this name.

    Raises:
        UsageError: if there is none.
    """
    if name not in RULES:
        raise UsageError(f"unknown rules {name[:_MAX_SHOWN]!r}; the rules are {', '.join(RULES)}")
    return RULES[name]
