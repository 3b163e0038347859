"""Shuffle v1: the deal of each deal number, and the candidates for the Daily hole of a date.

Frozen. No library's shuffle is stable across versions and languages, so Fairway has its own: SHA-256 in
counter mode gives 32-bit words, and a Fisher-Yates shuffle uses one per swap.
"""

import hashlib
import hmac
import struct
from collections.abc import Iterator
from datetime import date
from itertools import count
from typing import Final

from solver.cards import DECK_SIZE
from solver.errors import UsageError
from solver.table.deal import Deal

MOST_DEAL_NUMBER: Final = 2**63 - 1
KEY_SIZE: Final = 32

_WORDS: Final = 2**32
_EIGHT_WORDS: Final = struct.Struct(">8I")
_CODE_ORDER: Final = tuple(range(DECK_SIZE))
# Per swap: the place to fill, the number of cards to choose from, and the first word to skip. That word and
# those above it would make low places more likely than others.
_SWAPS: Final = tuple((size - 1, size, _WORDS - _WORDS % size) for size in range(DECK_SIZE, 1, -1))


def deal_numbered(number: int) -> Deal:
    """Return the deal with this number; it is the same for every level.

    Args:
        number: 0 .. `MOST_DEAL_NUMBER`.

    Raises:
        UsageError: if the number is not an integer in that range.
    """
    _check_integer("deal number", number, MOST_DEAL_NUMBER)
    return _shuffled(_words(hashlib.sha256(b"fairway deal v1 %d" % number).digest()))


def daily_candidate(day: date, attempt: int, key: bytes | None) -> Deal:
    """Return the shuffle of one attempt at the hole of a date.

    Args:
        day: the date of the hole.
        attempt: 0, 1, .. until one is admitted.
        key: the secret of `KEY_SIZE` bytes that makes future holes unpredictable, or None.

    Raises:
        UsageError: if the attempt is not an integer >= 0, or the key does not have `KEY_SIZE` bytes.
    """
    _check_integer("attempt", attempt, MOST_DEAL_NUMBER)
    text = b"fairway daily v1 %04d-%02d-%02d %d" % (day.year, day.month, day.day, attempt)
    if key is None:
        return _shuffled(_words(hashlib.sha256(text).digest()))
    if len(key) != KEY_SIZE:
        raise UsageError(f"the daily key has {len(key)} bytes; it must have {KEY_SIZE}")
    return _shuffled(_words(hmac.digest(key, text, "sha256")))


def _check_integer(what: str, value: int, most: int) -> None:
    # True would mean deal 1, and 1.0 would fail far from here; both are errors of the caller.
    if type(value) is not int:
        raise UsageError(f"{what} {value!r} is not an integer; it must be one of 0 .. {most}")
    if not 0 <= value <= most:
        raise UsageError(f"{what} {value} is out of range; it must be one of 0 .. {most}")


def _words(seed: bytes) -> Iterator[int]:
    """Yield 32-bit words from a 32-byte seed without end, eight per hash."""
    for block in count():
        yield from _EIGHT_WORDS.unpack(hashlib.sha256(seed + block.to_bytes(4, "big")).digest())


def _shuffled(words: Iterator[int]) -> Deal:
    deck = list(_CODE_ORDER)
    for place, size, limit in _SWAPS:
        word = next(words)
        while word >= limit:
            word = next(words)
        other = word % size
        deck[place], deck[other] = deck[other], deck[place]
    return Deal(tuple(deck))
