"""A deal: the 52 cards where they lie, its notation, and the identity of its puzzle.

Notation (frozen): `c1 | .. | c7 | waste | stock`, each column from the card played last to the
card played first, the stock in the order it is drawn.
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
_MOST_CHARACTERS: Final = 1000  # a deal in notation has 171; more is noise and is not read any further
_MOST_SHOWN: Final = 20
_RANKS: Final = bytes(rank_of(code) for code in range(256))  # a table for bytes.translate


@dataclass(frozen=True)
class Deal:
    """Fifty-two different cards as they are dealt.

    Attributes:
        cards: card codes: 35 column cards, column by column, each from buried to playable; the waste card;
            the 16 stock cards in draw order.

    Raises:
        DealError: the cards are not the 52 of a deck.
    """

    cards: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.cards) != _DECK:
            raise DealError(("the cards are not the 52 of one deck",))

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
        """The stock in the order it is drawn."""
        return self.cards[TABLEAU_SIZE + 1 :]

    @cached_property
    def ranks(self) -> bytes:
        """The 52 ranks in the order of `cards`, one byte each: all that the solver sees."""
        return bytes(self.cards).translate(_RANKS)

    @property
    def notation(self) -> str:
        """The deal as text."""
        names = [CARD_NAMES[card] for card in self.cards]
        return " | ".join(" ".join(names[group]) for group in _GROUPS)

    @cached_property
    def puzzle_id(self) -> str:
        """Identity of the puzzle, whatever the suits and the order of the columns (puzzle id v1: frozen)."""
        letters = "".join(RANK_LETTERS[rank] for rank in self.ranks)
        columns = sorted(letters[n : n + COLUMN_HEIGHT] for n in range(0, TABLEAU_SIZE, COLUMN_HEIGHT))
        fields = (*columns, letters[TABLEAU_SIZE], letters[TABLEAU_SIZE + 1 :])
        return hashlib.sha256(f"fairway puzzle v1 {'|'.join(fields)}".encode("ascii")).hexdigest()[:16]


def parse_deal(text: str) -> Deal:
    """Read a deal from its notation; the bars may be left out, and lower case is accepted.

    Raises:
        DealError: with every fault of the text, not just the first.
    """
    if len(text) > _MOST_CHARACTERS:
        raise DealError((f"the text has {len(text)} characters, a deal has at most {_MOST_CHARACTERS}",))
    groups = [group.split() for group in text.split("|")]
    tokens = [token for group in groups for token in group]
    codes = tuple(CARD_CODES.get(token, DECK_SIZE) for token in tokens)
    if tuple(map(len, groups)) == _GROUP_SIZES and sorted(codes) == _DECK:
        return Deal(codes)  # as deals are written; what follows takes ten times as long, and finds all faults
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
            faults.append(f"token {place}, {token[:_MOST_SHOWN]!r}, is no card")
    return faults


def _repeat_faults(tokens: list[str]) -> list[str]:
    # Only ASCII: the capital of a long s is an S, but no card is written with one.
    names = [token.upper() if token.isascii() else token for token in tokens]
    faults = [
        f"token {place}, {name}, was dealt before as token {names.index(name) + 1}"
        for place, name in enumerate(names, start=1)
        if name in CARD_NAMES and names.index(name) + 1 < place
    ]
    missing = [name for name in CARD_NAMES if name not in names]
    if missing and len(missing) <= _MOST_SHOWN and names:
        faults.append(f"missing: {' '.join(missing)}")
    return faults


def _shape_faults(groups: list[list[str]], count: int) -> list[str]:
    faults = []
    if count != DECK_SIZE:
        faults.append(f"{count} cards, a deal has {DECK_SIZE}")
    if len(groups) not in (1, len(_GROUP_SIZES)):
        faults.append(f"{len(groups) - 1} bars, a deal has {len(_GROUP_SIZES) - 1} or none")
    elif len(groups) > 1:
        faults.extend(
            f"{name} has {len(group)} cards, not {size}"
            for name, group, size in zip(_GROUP_NAMES, groups, _GROUP_SIZES, strict=True)
            if len(group) != size
        )
    return faults
