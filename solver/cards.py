"""Cards as integers, and their text.

Code = 13 * suit + rank, ranks A=0 .. K=12, suits in the order C D H S (frozen).
"""

from typing import Final

from solver.errors import UsageError

RANK_LETTERS: Final = "A23456789TJQK"
SUIT_LETTERS: Final = "CDHS"
RANK_COUNT: Final = len(RANK_LETTERS)
DECK_SIZE: Final = RANK_COUNT * len(SUIT_LETTERS)

ACE: Final = 0
QUEEN: Final = 11
KING: Final = 12

CARD_NAMES: Final = tuple(rank + suit for suit in SUIT_LETTERS for rank in RANK_LETTERS)
CARD_CODES: Final = {name: code for code, name in enumerate(CARD_NAMES)}


def rank_of(card: int) -> int:
    """Return the rank of a card code, A=0 .. K=12."""
    return card % RANK_COUNT


def suit_of(card: int) -> int:
    """Return the suit of a card code, an index into `SUIT_LETTERS`."""
    return card // RANK_COUNT


def card_name(card: int) -> str:
    """Return the text of a card code: rank letter, then suit letter.

    Raises:
        UsageError: if the code is not in 0 .. 51.
    """
    if not 0 <= card < DECK_SIZE:
        raise UsageError(f"card code {card} is not in 0 .. {DECK_SIZE - 1}")
    return CARD_NAMES[card]


def parse_card(text: str) -> int:
    """Return the code of a card text such as `TD`; lower case is accepted.

    Raises:
        UsageError: if the text is not a card.
    """
    code = CARD_CODES.get(text.upper()) if text.isascii() else None
    if code is None:
        raise UsageError(
            f"{text[:20]!r} is not a card; write one of {RANK_LETTERS} and one of {SUIT_LETTERS}, as in TD"
        )
    return code
