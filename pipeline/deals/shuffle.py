"""Shuffle v1: the one deal that a number names for all time, and the candidates for the hole of a date.

Frozen. No library's shuffle is stable over versions and languages, so this is our own:
SHA-256 in counter mode gives 32-bit words, and a Fisher-Yates shuffle takes one for each swap.
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
# For each swap: the place to fill, the number of cards to choose from, and the first word to pass over.
# Words from there on would make the low places likelier than the others.
_SWAPS: Final = tuple((size - 1, size, _WORDS - _WORDS % size) for size in range(DECK_SIZE, 1, -1))


def deal_numbered(number: int) -> Deal:
    """The deal that this number names, whatever the level.

    Args:
        number: 0 .. `MOST_DEAL_NUMBER`.

    Raises:
        UsageError: the number is not an integer in that range.
    """
    _check_integer("deal number", number, MOST_DEAL_NUMBER)
    return _shuffled(_words(hashlib.sha256(b"fairway deal v1 %d" % number).digest()))


def daily_candidate(day: date, attempt: int, key: bytes | None) -> Deal:
    """The shuffle that one attempt at the hole of a date looks at.

    Args:
        day: the date of the hole.
        attempt: 0, 1, .. until one is admitted.
        key: the secret of `KEY_SIZE` bytes that keeps holes to come from being worked out; None without one.

    Raises:
        UsageError: the attempt is not an integer from 0 on, or the key is not `KEY_SIZE` bytes.
    """
    _check_integer("attempt", attempt, MOST_DEAL_NUMBER)
    text = b"fairway daily v1 %04d-%02d-%02d %d" % (day.year, day.month, day.day, attempt)
    if key is None:
        return _shuffled(_words(hashlib.sha256(text).digest()))
    if len(key) != KEY_SIZE:
        raise UsageError(f"the daily key has {len(key)} bytes; it must have {KEY_SIZE}")
    return _shuffled(_words(hmac.digest(key, text, "sha256")))


def _check_integer(what: str, value: int, most: int) -> None:
    # True would name deal 1 and 1.0 would fail far from here; both are mistakes of the caller.
    if type(value) is not int:
        raise UsageError(f"{what} {value!r} is not an integer; it must be one of 0 .. {most}")
    if not 0 <= value <= most:
        raise UsageError(f"{what} {value} is out of range; it must be one of 0 .. {most}")


def _words(seed: bytes) -> Iterator[int]:
    """The endless 32-bit words of a 32-byte seed, hashed eight at a time as they are needed."""
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
