"""Puzzle ids by the million: a set that takes eight bytes a slot where Python's own takes over a hundred.

A table with open addressing: an id, which is a hash already, is looked for from the slot that its lowest bits
name, and on from there until it or an empty slot is met.
"""

from array import array
from collections.abc import Iterable
from typing import Final, Protocol

_LEAST_SLOTS: Final = 1024  # a power of two
_SLOTS_AN_ID: Final = 1.5  # at least; fewer make the walks long
_EMPTY: Final = 0
_HEX: Final = 16


class KnownPuzzles(Protocol):
    """Puzzle ids that are taken; a plain set of them is one too."""

    def __contains__(self, puzzle: object, /) -> bool:
        """Whether an id is taken."""

    def add(self, puzzle: str, /) -> None:
        """Take an id; twice is no error."""


class PuzzleIds:
    """A set of puzzle ids that only grows.

    Args:
        puzzles: ids to begin with.
        expected: how many there will be in the end, so that the table need not be made anew on the way.
    """

    def __init__(self, puzzles: Iterable[str] = (), expected: int = 0) -> None:
        self._slots = _empty_slots(expected)
        self._count = 0
        self._has_zero = False  # the one id that a slot cannot hold
        self.update(puzzles)

    def __contains__(self, puzzle: object) -> bool:
        number = int(str(puzzle), _HEX)
        return self._slots[self._place(number)] == number if number != _EMPTY else self._has_zero

    def __len__(self) -> int:
        return self._count + self._has_zero

    @property
    def bytes_held(self) -> int:
        """Size of the table in memory."""
        return len(self._slots) * self._slots.itemsize

    def add(self, puzzle: str) -> None:
        """Take an id of 16 hex digits; twice is no error."""
        number = int(puzzle, _HEX)
        if number == _EMPTY:
            self._has_zero = True
            return
        place = self._place(number)
        if self._slots[place] == _EMPTY:
            self._slots[place] = number
            self._count += 1
            if self._count * _SLOTS_AN_ID > len(self._slots):
                self._grow()

    def update(self, puzzles: Iterable[str]) -> None:
        """Take several ids."""
        for puzzle in puzzles:
            self.add(puzzle)

    def _place(self, number: int) -> int:
        """The slot that holds a number, or the empty one where it belongs."""
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
    """Slots for so many ids: a power of two, so that bits name one."""
    slots = _LEAST_SLOTS
    while slots < count * _SLOTS_AN_ID:
        slots *= 2
    return array("Q", [_EMPTY]) * slots
