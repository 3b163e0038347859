"""`fairway round` and `fairway scorecard`: what they print for people and programs, and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.catalog import load_catalog
from pipeline.root import open_root
from pipeline.rounds import Round, round_of
from pipeline.storage import LocalStorage
from tests.command import done, fairway, files_of
from tests.pools import made_anew, with_nights


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> LocalStorage:
    """Pools of deals that nobody has solved, in two nights; no test changes them."""
    root = open_root(tmp_path_factory.mktemp("rounds") / "root", create=True)
    for level in ("easy", "medium"):
        with_nights(root, (30, 20), level)
    return root


def first_round(storage: LocalStorage, level: str = "medium") -> Round:
    return round_of(storage, load_catalog(storage).pool(level), 1)


def document(*arguments: object) -> Any:
    return json.loads(done(*arguments).out)


def test_a_round_is_listed_for_people(storage: LocalStorage) -> None:
    before = files_of(storage.root)
    lines = done("round", "medium", "--number", 1, "--data", storage.root).text.splitlines()
    found = first_round(storage)
    assert lines[0] == (
        f"round 1 of level medium, generation 1: par 36, best score {sum(h.best_score for h in found.holes)}"
    )
    assert [line.split() for line in lines[4:]] == [
        [str(value) for value in (hole.hole, hole.deal_number, hole.par, hole.best_score)]
        for hole in found.holes
    ]
    assert files_of(storage.root) == before


def test_a_round_is_a_document_for_programs(storage: LocalStorage) -> None:
    told = document("round", "easy", "--number", 1, "--json", "--data", storage.root)
    found = first_round(storage, "easy")
    holes = told.pop("holes")
    assert told == {
        "level": "easy",
        "generation": 1,
        "round": 1,
        "course": 1,
        "rules": "relaxed",
        "par": 28,
        "best_score": found.best_score,
    }
    assert [list(hole) for hole in holes] == [["hole", "deal_number", "deal", "par", "best_score"]] * 9
    assert [hole["deal_number"] for hole in holes] == [str(hole.deal_number) for hole in found.holes]
    assert [hole["deal"] for hole in holes] == [hole.deal for hole in found.holes]


def test_rounds_are_those_of_the_generation_in_force(tmp_path: Path) -> None:
    root = open_root(tmp_path / "root", create=True)
    with_nights(root, (30,))
    command = ("round", "medium", "--number", 1, "--json", "--data", root.root)
    first = document(*command)
    made_anew(root, 30, first=500)
    second = document(*command)
    assert (first["generation"], second["generation"]) == (1, 2)
    assert not {hole["deal"] for hole in first["holes"]} & {hole["deal"] for hole in second["holes"]}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["medium", "--number", "9999"], 1, "level medium has no round 9999 yet: its pool is enough for"),
        (
            ["hard", "--number", "1"],
            1,
            "enough for 0, and the next one waits for deals: 4 of par 4, 5 of par 5",
        ),
        (["medium", "--number", "0"], 2, "'0' is no whole number from 1 to"),
        (["medium"], 2, "Missing option '--number'"),
        (["daily", "--number", "1"], 2, "unknown level 'daily'; the levels are easy, medium, hard"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_round_that_is_not_there_is_one_line(
    storage: LocalStorage, arguments: list[str], code: int, words: str
) -> None:
    outcome = fairway("round", *arguments, "--data", storage.root)
    assert words in outcome.complaint
    assert outcome.code == code
