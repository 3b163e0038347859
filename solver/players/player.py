"""The interface of a simulated player, and the table of players.

A player with other habits is a new row of `PLAYERS`; a new kind of player is a module or a class with this
interface.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from solver.players import steady
from solver.players.varied import VARIED
from solver.table.deal import Deal
from solver.table.rules import Rules


class Player(Protocol):
    """A way of playing whose chance to clear a deal can be computed exactly."""

    @property
    def name(self) -> str:
        """The player's name, as columns and documents spell it."""
        ...

    def clear_masses(self, deals: Sequence[Deal], rules: Rules) -> list[int]:
        """Return, for each deal, the mass of the holes that it clears, of `TOTAL_MASS`."""
        ...


_ROWS: Final[tuple[Player, ...]] = (steady, VARIED)
PLAYERS: Final[Mapping[str, Player]] = MappingProxyType({player.name: player for player in _ROWS})
