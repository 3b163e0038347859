"""Errors are one line, list every fault, and can be pickled."""

import pickle

import pytest

from solver.errors import DealError, FairwayError, LineError, UsageError

ERRORS = [
    FairwayError("something"),
    UsageError("unknown level 'x'"),
    DealError(("51 cards; a deal has 52", "missing: AS")),
    LineError(3, "7", "12D"),
    LineError(0, "1", ""),
    LineError(3, "7", "12D").in_line("hole 5"),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_can_be_pickled_as_executors_do(error: FairwayError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_is_one_line(error: FairwayError) -> None:
    assert str(error).splitlines() == [str(error)]


def test_a_deal_error_lists_every_fault() -> None:
    assert str(ERRORS[2]) == "not a deal: 51 cards; a deal has 52; missing: AS"


def test_a_line_error_names_the_move_and_the_legal_ones() -> None:
    assert str(ERRORS[3]) == "move 4 of the line, '7', is not legal; legal there: 1, 2, D"
    assert str(ERRORS[4]) == "move 1 of the line, '1', is not legal; legal there: nothing: the hole is over"


def test_a_line_error_can_name_one_of_several_lines() -> None:
    assert str(ERRORS[5]) == f"hole 5: {ERRORS[3]}"
