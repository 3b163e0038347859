"""A deal: its 52 cards, its notation, and the identity of its puzzle.

Notation (frozen): `c1 | .. | c7 | waste | stock`, each column from the card played last to the
card played first, the stock in draw order.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from solver.cards import CARD_CODES, CARD_NAMES, DECK_SIZE, RANK_LETTERS, parse_card, rank_of
from solver.errors import DealError, UsageError

COLUMN_COUNT: Final = 7
COLUMN_HEIGHT: Final = 5
TABLEAU_SIZE: Final = COLUMN_COUNT * COLUMN_HEIGHT
STOCK_SIZE: Final = DECK_SIZE - TABLEAU_SIZE - 1

_GROUP_SIZES: Final = (COLUMN_HEIGHT,) * COLUMN_COUNT + (1, STOCK_SIZE)
_GROUPS: Final = tuple(
    slice(end - size, end) for size, end in zip(_GROUP_SIZES, accumulate(_GROUP_SIZES), strict=True)
)
_GROUP_NAMES: Final = (*(f"column {n}" for n in range(1, COLUMN_COUNT + 1)), "the waste", "the stock")
_DECK: Final = list(range(DECK_SIZE))
_MAX_CHARACTERS: Final = 1000  # a deal in notation has 171; longer texts are not read
_MAX_SHOWN: Final = 20
_RANKS: Final = bytes(rank_of(code) for code in range(256))  # a table for bytes.translate


@dataclass(frozen=True)
class Deal:
    """The 52 different cards of a deck as they are dealt.

    Attributes:
        cards: card codes: 35 column cards, column by column, each from buried to playable; the waste card;
            the 16 stock cards in draw order.

    Raises:
        DealError: if the cards are not the 52 of a deck.
    """

    cards: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.cards) != _DECK:
            raise DealError(("the cards are not the 52 cards of one deck",))

    @cached_property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The seven columns, each from buried to playable."""
        return tuple(self.cards[n : n + COLUMN_HEIGHT] for n in range(0, TABLEAU_SIZE, COLUMN_HEIGHT))

    @property
    def waste(self) -> int:
        """The card that starts the waste."""
        return self.cards[TABLEAU_SIZE]

    @property
    def stock(self) -> tuple[int, ...]:
        """The stock in draw order."""
        return self.cards[TABLEAU_SIZE + 1 :]

    @cached_property
    def ranks(self) -> bytes:
        """The 52 ranks in the order of `cards`, one byte each; the solver uses nothing else."""
        return bytes(self.cards).translate(_RANKS)

    @property
    def notation(self) -> str:
        """The deal in notation."""
        names = [CARD_NAMES[card] for card in self.cards]
        return " | ".join(" ".join(names[group]) for group in _GROUPS)

    @cached_property
    def puzzle_id(self) -> str:
        """Puzzle id v1 (frozen), which does not depend on the suits or the order of the columns."""
        letters = "".join(RANK_LETTERS[rank] for rank in self.ranks)
        columns = sorted(letters[n : n + COLUMN_HEIGHT] for n in range(0, TABLEAU_SIZE, COLUMN_HEIGHT))
        fields = (*columns, letters[TABLEAU_SIZE], letters[TABLEAU_SIZE + 1 :])
        return hashlib.sha256(f"fairway puzzle v1 {'|'.join(fields)}".encode("ascii")).hexdigest()[:16]


def parse_deal(text: str) -> Deal:
    """Read a deal from its notation; bars are optional, and lower case is accepted.

    Raises:
        DealError: with every fault of the text, not just the first.
    """
    if len(text) > _MAX_CHARACTERS:
        raise DealError((f"the text has {len(text)} characters; a deal has at most {_MAX_CHARACTERS}",))
    groups = [group.split() for group in text.split("|")]
    tokens = [token for group in groups for token in group]
    codes = tuple(CARD_CODES.get(token, DECK_SIZE) for token in tokens)
    if tuple(map(len, groups)) == _GROUP_SIZES and sorted(codes) == _DECK:
        return Deal(codes)  # as Fairway writes deals; the rest takes ten times as long
    faults = (*_token_faults(tokens), *_repeat_faults(tokens), *_shape_faults(groups, len(tokens)))
    if faults:
        raise DealError(faults)
    return Deal(tuple(parse_card(token) for token in tokens))


def _token_faults(tokens: list[str]) -> list[str]:
    faults = []
    for place, token in enumerate(tokens, start=1):
        try:
            parse_card(token)
        except UsageError:
            faults.append(f"token {place}, {token[:_MAX_SHOWN]!r}, is not a card")
    return faults


def _repeat_faults(tokens: list[str]) -> list[str]:
    # Only ASCII: the upper case of a long s is an S, but a long s is not a suit.
    names = [token.upper() if token.isascii() else token for token in tokens]
    faults = [
        f"token {place}, {name}, is the same card as token {names.index(name) + 1}"
        for place, name in enumerate(names, start=1)
        if name in CARD_NAMES and names.index(name) + 1 < place
    ]
    missing = [name for name in CARD_NAMES if name not in names]
    if missing and len(missing) <= _MAX_SHOWN and names:
        faults.append(f"missing: {' '.join(missing)}")
    return faults


def _shape_faults(groups: list[list[str]], count: int) -> list[str]:
    faults = []
    if count != DECK_SIZE:
        faults.append(f"{count} cards; a deal has {DECK_SIZE}")
    if len(groups) not in (1, len(_GROUP_SIZES)):
        faults.append(f"{len(groups) - 1} bars; a deal has {len(_GROUP_SIZES) - 1} or none")
    elif len(groups) > 1:
        faults.extend(
            f"{name} has {len(group)} cards, not {size}"
            for name, group, size in zip(_GROUP_NAMES, groups, _GROUP_SIZES, strict=True)
            if len(group) != size
        )
    return faults
