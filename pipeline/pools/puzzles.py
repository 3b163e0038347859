"""A set of millions of puzzle ids: eight bytes per slot, where a Python set takes more than 100 bytes per id.

It is a hash table with open addressing. An id is already a hash, so its lowest bits give the slot at which
the search begins; the search ends at the id or at an empty slot.
"""

from array import array
from collections.abc import Iterable
from typing import Final

_MIN_SLOTS: Final = 1024  # a power of two
_SLOTS_PER_ID: Final = 1.5  # at least; with fewer the searches become long
_EMPTY: Final = 0
_HEX: Final = 16


class PuzzleIds:
    """A set of puzzle ids that only grows; with the expected number, its table need not be enlarged."""

    def __init__(self, puzzles: Iterable[str] = (), expected: int = 0) -> None:
        self._slots = _empty_slots(expected)
        self._count = 0
        self._has_zero = False  # a slot cannot hold the id 0
        self.update(puzzles)

    def __contains__(self, puzzle: object) -> bool:
        number = int(str(puzzle), _HEX)
        return self._slots[self._place(number)] == number if number != _EMPTY else self._has_zero

    def __len__(self) -> int:
        return self._count + self._has_zero

    def add(self, puzzle: str) -> None:
        """Add an id of 16 hex digits; adding it again has no effect."""
        number = int(puzzle, _HEX)
        if number == _EMPTY:
            self._has_zero = True
            return
        place = self._place(number)
        if self._slots[place] == _EMPTY:
            self._slots[place] = number
            self._count += 1
            if self._count * _SLOTS_PER_ID > len(self._slots):
                self._grow()

    def update(self, puzzles: Iterable[str]) -> None:
        """Add several ids."""
        for puzzle in puzzles:
            self.add(puzzle)

    def _place(self, number: int) -> int:
        """Return the slot that holds a number, or the empty slot where it belongs."""
        slots, mask = self._slots, len(self._slots) - 1
        place = number & mask
        while slots[place] not in (number, _EMPTY):
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        before = self._slots
        self._slots = _empty_slots(2 * self._count)
        for number in before:
            if number != _EMPTY:
                self._slots[self._place(number)] = number


def _empty_slots(count: int) -> "array[int]":
    """Return slots for this many ids; their number is a power of two, so that a bit mask selects one."""
    slots = _MIN_SLOTS
    while slots < count * _SLOTS_PER_ID:
        slots *= 2
    return array("Q", [_EMPTY]) * slots
