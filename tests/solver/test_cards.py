"""Cards have codes and names; anything else is refused."""

import pytest

from solver.cards import (
    ACE,
    CARD_NAMES,
    DECK_SIZE,
    KING,
    QUEEN,
    RANK_LETTERS,
    SUIT_LETTERS,
    card_name,
    parse_card,
    rank_of,
    suit_of,
)
from solver.errors import UsageError


def test_the_code_is_thirteen_times_the_suit_plus_the_rank() -> None:
    assert (RANK_LETTERS, SUIT_LETTERS) == ("A23456789TJQK", "CDHS")
    assert {name: parse_card(name) for name in ("AC", "KC", "AD", "TD", "QH", "KS")} == {
        "AC": 0,
        "KC": 12,
        "AD": 13,
        "TD": 22,
        "QH": 37,
        "KS": 51,
    }
    for code in range(DECK_SIZE):
        assert code == 13 * suit_of(code) + rank_of(code)


def test_the_named_ranks_are_those_of_their_letters() -> None:
    assert [RANK_LETTERS[rank] for rank in (ACE, QUEEN, KING)] == ["A", "Q", "K"]


def test_every_card_can_be_written_and_read_back() -> None:
    names = [card_name(code) for code in range(DECK_SIZE)]
    assert tuple(names) == CARD_NAMES
    assert len(set(names)) == DECK_SIZE
    assert [parse_card(name) for name in names] == list(range(DECK_SIZE))
    assert [parse_card(name.lower()) for name in names] == list(range(DECK_SIZE))


@pytest.mark.parametrize("code", [-1, 52, 10**9])
def test_a_code_out_of_range_has_no_name(code: int) -> None:
    with pytest.raises(UsageError, match=rf"card code {code} is not in 0 \.\. 51"):
        card_name(code)


NOT_CARDS = [
    "",
    "A",
    "1C",
    "10D",
    "TDX",
    "DT",
    "T D",
    " TD",
    "TD\n",
    "T\0",
    "\uff34\uff24",
    "\u0662C",
    "T\u2666",
]
NOT_CARDS += [
    "a\u017f",
    "\u212ac",
    "\U0001f0a1",
    "\udcff",
]  # a long s, a Kelvin sign, a playing card symbol, an invalid byte


@pytest.mark.parametrize("text", NOT_CARDS)
def test_a_text_that_is_not_a_card_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(
        UsageError, match="is not a card; write one of A23456789TJQK and one of CDHS"
    ) as caught:
        parse_card(text)
    assert ascii(text) in ascii(str(caught.value)).replace("\\\\", "\\")


def test_a_long_text_is_shortened_in_the_message() -> None:
    with pytest.raises(UsageError) as caught:
        parse_card("X" * 1_000_000)
    assert len(str(caught.value)) < 120
