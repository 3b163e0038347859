"""A deal is read from its notation, or every fault of the text is reported."""

import pickle
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.cards import CARD_NAMES, DECK_SIZE, RANK_LETTERS, parse_card
from solver.errors import DealError
from solver.table.deal import Deal, parse_deal
from tests.support.reference import frozen

DEAL = parse_deal(frozen()["deals"][0]["deal"])
TOKENS = DEAL.notation.replace("| ", "").split()

deals = st.permutations(range(DECK_SIZE)).map(lambda cards: Deal(tuple(cards)))


def faults_of(text: str) -> list[str]:
    with pytest.raises(DealError) as caught:
        parse_deal(text)
    assert str(caught.value) == "not a deal: " + "; ".join(caught.value.faults)
    return list(caught.value.faults)


def test_the_notation_is_columns_from_buried_to_playable_then_waste_then_stock() -> None:
    deal = Deal(tuple(range(DECK_SIZE)))
    assert deal.notation == (
        "AC 2C 3C 4C 5C | 6C 7C 8C 9C TC | JC QC KC AD 2D | 3D 4D 5D 6D 7D | 8D 9D TD JD QD |"
        " KD AH 2H 3H 4H | 5H 6H 7H 8H 9H | TH | JH QH KH AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"
    )
    assert [column[-1] for column in deal.columns] == [4, 9, 14, 19, 24, 29, 34]
    assert (deal.waste, deal.stock) == (35, tuple(range(36, 52)))
    assert deal.ranks == bytes(card % 13 for card in range(DECK_SIZE))


@given(deals)
def test_every_deal_can_be_written_and_read_back(deal: Deal) -> None:
    assert parse_deal(deal.notation) == deal
    assert parse_deal(deal.notation.lower()) == deal
    assert parse_deal(deal.notation.replace("|", "")) == deal
    assert parse_deal(deal.notation.replace(" | ", "|")) == deal
    assert parse_deal(f"\n\t {deal.notation.replace(' ', '   ')}\r\n") == deal


@given(deals)
def test_a_deal_is_a_value(deal: Deal) -> None:
    again = pickle.loads(pickle.dumps(deal))
    assert (again, hash(again), again.puzzle_id) == (deal, hash(deal), deal.puzzle_id)


def test_the_reference_puzzle_ids_are_met() -> None:
    rows = [*frozen()["deals"], *frozen()["daily_holes"]]
    assert {row["deal"]: parse_deal(row["deal"]).puzzle_id for row in rows} == {
        row["deal"]: row["puzzle_id"] for row in rows
    }


@given(deals, st.permutations(range(7)), st.randoms(use_true_random=False))
def test_neither_suits_nor_the_order_of_columns_change_the_puzzle_id(
    deal: Deal, order: list[int], dice: random.Random
) -> None:
    columns = [card for number in order for card in deal.columns[number]]
    suits = [dice.sample(range(4), 4) for _ in RANK_LETTERS]  # another permutation for each rank
    other = Deal(
        tuple(13 * suits[card % 13][card // 13] + card % 13 for card in (*columns, deal.waste, *deal.stock))
    )
    assert other.puzzle_id == deal.puzzle_id


@given(deals, st.data())
def test_any_other_swap_of_two_cards_changes_the_puzzle_id(deal: Deal, data: st.DataObject) -> None:
    first, second = data.draw(st.tuples(st.integers(0, 51), st.integers(0, 51)))
    cards = list(deal.cards)
    cards[first], cards[second] = cards[second], cards[first]
    other = Deal(tuple(cards))
    assert (other.puzzle_id == deal.puzzle_id) == (puzzle(other) == puzzle(deal))


def puzzle(deal: Deal) -> object:
    """Return what identifies a puzzle: the columns in any order, the waste and the stock, all as ranks."""
    letters = [RANK_LETTERS[card % 13] for card in deal.cards]
    return sorted(letters[n : n + 5] for n in range(0, 35, 5)), letters[35:]


FULL_WIDTH = {ord(letter): ord(letter) + 0xFEE0 for letter in RANK_LETTERS + "CDHS"}

# A faulty text and all of its faults.
FAULTY: list[tuple[str, str, list[str]]] = [
    ("empty", "", ["0 cards; a deal has 52"]),
    ("blank", " \n\t ", ["0 cards; a deal has 52"]),
    (
        "51 cards",
        DEAL.notation.removesuffix(" 7H"),
        ["missing: 7H", "51 cards; a deal has 52", "the stock has 15 cards, not 16"],
    ),
    ("51 cards without bars", " ".join(TOKENS[1:]), ["missing: AH", "51 cards; a deal has 52"]),
    (
        "53 cards",
        DEAL.notation + " AS",
        [
            "token 53, AS, is the same card as token 18",
            "53 cards; a deal has 52",
            "the stock has 17 cards, not 16",
        ],
    ),
    (
        "a card twice",
        DEAL.notation.replace("JC", "ah"),
        ["token 2, AH, is the same card as token 1", "missing: JC"],
    ),
    (
        "unknown tokens",
        DEAL.notation.replace("JC", "1C").replace("7H", "10H"),
        ["token 2, '1C', is not a card", "token 52, '10H', is not a card", "missing: JC 7H"],
    ),
    (
        "a bar in the wrong place",
        DEAL.notation.replace("KD | TS", "| KD TS"),
        ["column 1 has 4 cards, not 5", "column 2 has 6 cards, not 5"],
    ),
    ("a missing bar", DEAL.notation.replace("| 9D |", "9D |"), ["7 bars; a deal has 8 or none"]),
    ("an extra bar", DEAL.notation + " |", ["9 bars; a deal has 8 or none"]),
    (
        "two decks",
        " ".join(TOKENS * 2),
        [
            *(f"token {53 + n}, {name}, is the same card as token {1 + n}" for n, name in enumerate(TOKENS)),
            "104 cards; a deal has 52",
        ],
    ),
    ("a million letters", "x" * 1_000_000, ["the text has 1000000 characters; a deal has at most 1000"]),
    ("a million blanks", " " * 1_000_000, ["the text has 1000000 characters; a deal has at most 1000"]),
    ("a NUL byte", DEAL.notation.replace("JC", "JC\0"), ["token 2, 'JC\\x00', is not a card", "missing: JC"]),
    ("a byte order mark", "\ufeff" + DEAL.notation, ["token 1, '\\ufeffAH', is not a card", "missing: AH"]),
    (
        "an invalid byte",
        DEAL.notation.replace("JC", "J\udcff"),
        ["token 2, 'J\\udcff', is not a card", "missing: JC"],
    ),
    (
        "a suit symbol",
        DEAL.notation.replace("JC", "J\u2663"),
        ["token 2, 'J\u2663', is not a card", "missing: JC"],
    ),
    (
        "a long s",
        DEAL.notation.replace("AS", "a\u017f"),
        ["token 18, 'a\u017f', is not a card", "missing: AS"],
    ),
    (
        "full-width letters",
        DEAL.notation.replace("JC", "JC".translate(FULL_WIDTH)),
        ["token 2, '\uff2a\uff23', is not a card", "missing: JC"],
    ),
    (
        "everything at once",
        DEAL.notation.replace("JC", "XX").replace("QC", "AH").replace("KD | TS", "KD TS |"),
        [
            "token 2, 'XX', is not a card",
            "token 3, AH, is the same card as token 1",
            "missing: JC QC",
            "column 1 has 6 cards, not 5",
            "column 2 has 4 cards, not 5",
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in FAULTY], ids=[row[0] for row in FAULTY])
def test_every_fault_of_a_text_is_reported(text: str, expected: list[str]) -> None:
    assert faults_of(text) == expected


@given(st.text(max_size=60))
def test_the_faults_of_any_text_are_one_line(text: str) -> None:
    message = "; ".join(faults_of(text))
    assert message.splitlines() == [message]


MUTATIONS: list[Callable[[list[str], random.Random], None]] = [
    lambda tokens, dice: tokens.remove(dice.choice(tokens)),
    lambda tokens, dice: tokens.insert(dice.randrange(len(tokens)), dice.choice(["|", "XX", "AS", "10D"])),
    lambda tokens, dice: tokens.insert(0, tokens.pop(dice.randrange(len(tokens)))),
    lambda tokens, dice: tokens.__setitem__(
        dice.randrange(len(tokens)), dice.choice([*CARD_NAMES, "|", "0"])
    ),
]


@given(deals, st.randoms(use_true_random=False), st.integers(1, 4))
def test_a_damaged_text_is_refused_unless_it_is_still_a_whole_deck(
    deal: Deal, dice: random.Random, damages: int
) -> None:
    tokens = deal.notation.split()
    for _ in range(damages):
        dice.choice(MUTATIONS)(tokens, dice)
    groups = " ".join(tokens).split("|")
    whole = sorted(token for token in tokens if token != "|") == sorted(CARD_NAMES)
    if whole and [len(group.split()) for group in groups] in ([52], [5] * 7 + [1, 16]):
        cards = tuple(parse_card(token) for token in tokens if token != "|")
        assert parse_deal(" ".join(tokens)).cards == cards
    else:
        assert faults_of(" ".join(tokens))


@pytest.mark.parametrize(
    "cards", [(), tuple(range(51)), (*range(51), 0), (*range(51), 52), (-1, *range(51)), tuple(range(53))]
)
def test_cards_that_are_not_a_deck_are_refused(cards: tuple[int, ...]) -> None:
    with pytest.raises(DealError, match="not the 52 cards of one deck"):
        Deal(cards)
