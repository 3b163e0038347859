"""Text for messages, and hashes: the few small helpers that every wing needs."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

MAX_LISTED: Final = 3
MAX_FAULTS: Final = 30
MAX_CHARACTERS: Final = 100
MAX_MESSAGE: Final = 3000

_LONG_WORD: Final = re.compile(r"\S{501,}")  # longer than most paths, which are to be pasted
_KEPT_OF_WORD: Final = 120


def listed(items: Sequence[str], most: int = MAX_LISTED, sep: str = ", ") -> str:
    """Join the first few items and count the rest, as in `a, b, c and 4 more`.

    Args:
        items: what to list.
        most: how many items to show.
        sep: what stands between two items; with `"; "` the result is `a; b; c; and 4 more`.
    """
    more = len(items) - most
    if more <= 0:
        return sep.join(items)
    return sep.join(items[:most]) + (" " if sep == ", " else sep) + f"and {more:,} more"


def shortened(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return a text cut to this many characters, with `..` in place of the rest."""
    return text if len(text) <= most else f"{text[:most]}.."


def message_of(text: str) -> str:
    """Return a message without the middle of what is overlong: its end says what to do."""
    words = _LONG_WORD.sub(lambda word: _without_middle(word[0], _KEPT_OF_WORD), text)
    return _without_middle(words, MAX_MESSAGE)


def _without_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail]}..{text[-tail:]}"


def quoted(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return the beginning of an untrusted text as a literal, which fits on one line of a message."""
    return repr(text[:most])


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 hash of some bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
