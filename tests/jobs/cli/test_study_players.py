"""`fairway study players` as a command: its text, its document, its file and its chart."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.studies.study_schema import read_players
from tests.support.command import done, fairway
from tests.support.reference import table

RULES = "dead_king"  # the quickest
DEALS = 120
PLAYERS = ("study", "players", "--rules", RULES, "--deals", DEALS)


def test_the_document_has_every_pair_of_measures_and_every_difficulty() -> None:
    outcome = done(*PLAYERS, "--json")
    document: dict[str, Any] = json.loads(outcome.out)
    best = [row[RULES] for row in table("yardstick_v1.csv")[:DEALS]]
    assert document["cleared"] == DEALS - best.count("-")
    assert (document["study"], document["rules"], document["first"]) == ("players", RULES, 0)
    pairs = [tuple(each["measures"]) for each in document["correlations"]]
    assert len(set(pairs)) == len(pairs)
    assert ("steady_mean", "varied_clear_rate") in pairs
    assert all(-1 <= each["spearman"] <= 1 for each in document["correlations"])
    assert [each["difficulty"] for each in document["difficulties"]] == [1, 2, 3, 4, 5]
    assert sum(each["deals"] for each in document["difficulties"]) == document["cleared"]
    assert sum(each["share"] for each in document["difficulties"]) == pytest.approx(1)
    level = document["level"]
    assert (level["level"], level["mean_from"], level["mean_below"]) == ("hard", 3.5, 6.5)
    assert sum(each["deals"] for each in level["difficulties"]) == level["deals"] < document["cleared"]
    assert outcome.err.splitlines()[-1] == f"{RULES}: {DEALS} of {DEALS}"


def test_the_text_shows_the_correlations_and_the_difficulties() -> None:
    text = done(*PLAYERS).text
    for words in (
        f"{DEALS} deals under {RULES}, numbers 0 to {DEALS - 1}",
        "varied clear rate",
        "steady mean of hard",
        "1 gentle",
        "5 extreme",
    ):
        assert words in text


def test_a_study_of_one_deal_that_cannot_be_cleared_has_no_shares() -> None:
    best = [row[RULES] for row in table("yardstick_v1.csv")]
    arguments = ("study", "players", "--rules", RULES, "--deals", 1, "--from-number", best.index("-"))
    document = json.loads(done(*arguments, "--json").out)
    assert {each["share"] for each in document["difficulties"]} == {None}
    assert {each["spearman"] for each in document["correlations"]} == {None}
    assert "-" in done(*arguments).text


def test_the_tables_are_written_and_charted(tmp_path: Path) -> None:
    tables, picture = tmp_path / "tables.parquet", tmp_path / "chart.png"
    done(*PLAYERS, "-o", tables)
    found = read_players(tables.read_bytes(), "tables")
    assert found.study.count == DEALS
    done("study", "players-chart", tables, tables, "-o", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = done("study", "players-chart", tables, "-o", "-").text
    assert f"<!-- 1 gentle, {100 * found.difficulties[0] / found.cleared:.0f} % -->" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rules", "bridge", "--deals", 9), "bridge"),
        (("--rules", RULES, "--deals", 0), "from 1 to 1000000"),
        (("--rules", RULES, "--deals", 1_000_001), "from 1 to 1000000"),
        (("--rules", RULES, "--deals", 2, "--from-number", 2**63 - 1), "are not in 0"),
    ],
)
def test_what_cannot_be_studied_is_refused_in_one_sentence(arguments: tuple[object, ...], words: str) -> None:
    outcome = fairway("study", "players", *arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert "Traceback" not in outcome.err


def test_other_files_are_not_charted(tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    other.write_bytes(b"nothing")
    outcome = fairway("study", "players-chart", other, "-o", tmp_path / "chart.svg")
    assert outcome.code != 0
    assert "other.parquet is damaged" in outcome.err
    assert not (tmp_path / "chart.svg").exists()
