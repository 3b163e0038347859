"""The interface of a simulated player."""

from collections.abc import Sequence
from typing import Protocol

from solver.players.distribution import ScoreDistribution
from solver.table.deal import Deal
from solver.table.rules import Rules


class Player(Protocol):
    """A way of playing whose score distribution can be computed exactly.

    A module can be one: `solver.players.steady` is.
    """

    @property
    def name(self) -> str:
        """The player's name, as columns and documents spell it."""
        ...

    def rate_each(self, deals: Sequence[Deal], rules: Rules) -> list[ScoreDistribution]:
        """Return the player's score distribution on each deal, in the same order."""
        ...
