"""Text for messages, and hashes: the few small helpers that every wing needs."""

import hashlib
from collections.abc import Sequence
from typing import Final

MAX_LISTED: Final = 3
MAX_CHARACTERS: Final = 100


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


def quoted(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return the beginning of an untrusted text as a literal, which fits on one line of a message."""
    return repr(text[:most])


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 hash of some bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
