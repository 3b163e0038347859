"""A players' study rates the deals that can be cleared, and its committed tables are what the pages show."""

import dataclasses
from collections.abc import Sequence
from types import MappingProxyType

import pytest

from pipeline.errors import DamagedError
from pipeline.studies import players as players_module
from pipeline.studies.players import MEAN_RANGES, PlayersFindings, findings_of, measures, play, rate_numbers
from pipeline.studies.study_schema import blocks_bytes, players_bytes, read_blocks, read_players
from pipeline.studies.winnability import SCORES, Block, Study, findings
from pipeline.work.executors import local_work
from solver.players.difficulty import DIFFICULTY_NAMES
from solver.players.player import PLAYERS
from solver.table.deal import Deal
from solver.table.rules import RULES, Rules
from tests.support.doubles import Recorder
from tests.support.reference import REFERENCE, table

FOLDER = REFERENCE / "study" / "players"
DEALS = 20_000
SMALL = Study("dead_king", fewest=False, first=0, count=100)


@pytest.fixture(scope="module")
def small() -> PlayersFindings:
    return findings_of(SMALL, rate_numbers(SMALL))


def test_the_clear_chances_are_those_of_the_reference() -> None:
    rows = [row for row in table("varied_v1.csv") if row["rules"] == SMALL.rules]
    for row in rows[:30]:
        (rating,) = rate_numbers(Study(SMALL.rules, fewest=False, first=int(row["deal_number"]), count=1))
        assert rating.clear_chance_mass == int(row["cleared_mass"])


def test_only_deals_that_can_be_cleared_are_rated() -> None:
    best = [row[SMALL.rules] for row in table("yardstick_v1.csv")[: SMALL.count]]
    scores = [rating.best_score for rating in rate_numbers(SMALL)]
    assert scores == [int(score) for score in best if score != "-"]


def test_the_findings_do_not_depend_on_the_number_of_workers(small: PlayersFindings) -> None:
    for workers in (1, 2):
        recorder = Recorder()
        with local_work(workers, recorder) as work:
            assert play(SMALL, work) == small


def test_the_level_takes_the_deals_in_its_range_of_the_steady_mean(small: PlayersFindings) -> None:
    low, below = MEAN_RANGES[SMALL.rules].low, MEAN_RANGES[SMALL.rules].below
    assert low is not None
    assert below is not None
    in_range = [rating for rating in rate_numbers(SMALL) if low <= rating.steady_mean < below]
    assert 0 < sum(small.level_difficulties) == len(in_range) < small.cleared


class Timid:
    """A player that never clears anything."""

    name = "timid"

    def clear_masses(self, deals: Sequence[Deal], rules: Rules) -> list[int]:
        return [0] * len(deals)


def test_another_player_gets_a_column_of_its_own(
    small: PlayersFindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players_module, "PLAYERS", MappingProxyType({**PLAYERS, "timid": Timid()}))
    found = findings_of(SMALL, rate_numbers(SMALL))
    assert found.measures == measures() == (*small.measures[:-1], "timid_clear_rate", "best_score")
    assert found.correlation("timid_clear_rate", "best_score") is None
    assert found.difficulties == small.difficulties
    for one in small.measures:
        for other in small.measures:
            assert found.correlation(one, other) == small.correlation(one, other)
    assert read_players(players_bytes(found), "file") == found


def test_findings_that_do_not_add_up_are_refused(small: PlayersFindings) -> None:
    for change in (
        {"measures": small.measures[1:]},
        {"difficulties": (*small.difficulties[1:], 0)},
        {"level_difficulties": (SMALL.count, 0, 0, 0, 0)},
        {"cells": small.cells[1:]},
    ):
        with pytest.raises(ValueError, match="do not add up"):
            dataclasses.replace(small, **change)


def test_a_study_without_a_deal_that_can_be_cleared_has_no_correlations() -> None:
    found = findings_of(SMALL, [])
    assert found.cleared == 0
    assert {value for row in found.correlations for value in row} == {None}
    assert read_players(players_bytes(found), "file") == found


def test_a_file_of_another_kind_or_a_damaged_one_is_refused(small: PlayersFindings) -> None:
    whole = players_bytes(small)
    assert read_players(whole, "file") == small
    for data in (b"", whole[:-9], whole[:200] + b"\x00" + whole[201:]):
        with pytest.raises(DamagedError, match=r"^file "):
            read_players(data, "file")
    counts = blocks_bytes([Block(SMALL, 0, (0,) * len(SCORES))])
    with pytest.raises(DamagedError, match="does not hold the findings of a players' study"):
        read_players(counts, "file")
    with pytest.raises(DamagedError, match="does not hold the counts of a study"):
        read_blocks(whole, "file")


# -- the committed study ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results() -> dict[str, PlayersFindings]:
    return {rules: read_players((FOLDER / f"{rules}.parquet").read_bytes(), rules) for rules in RULES}


def test_each_king_rule_was_played_over_the_same_deals(results: dict[str, PlayersFindings]) -> None:
    for rules, found in results.items():
        assert found.study == Study(rules, fewest=False, first=0, count=DEALS)
        assert found.measures == results["golf"].measures


def test_as_many_deals_can_be_cleared_as_the_winnability_study_counted(
    results: dict[str, PlayersFindings],
) -> None:
    for rules, found in results.items():
        blocks = read_blocks((REFERENCE / "study" / f"{rules}.parquet").read_bytes(), rules)
        counted = [block for block in blocks if block.study.last < DEALS]
        assert sum(block.study.count for block in counted) == DEALS
        assert found.cleared == sum(findings(block).whole.cleared for block in counted)


def test_the_page_shows_every_figure_of_the_study(results: dict[str, PlayersFindings]) -> None:
    page = (REFERENCE.parents[1] / "docs" / "difficulty.md").read_text("utf-8")
    names = [name.replace("_", " ") for name in results["golf"].measures]
    for at, one in enumerate(names):
        for place, other in enumerate(names[at + 1 :], at + 1):
            signs = (signed(found.correlations[at][place]) for found in results.values())
            assert f"| {one}, {other} | {' | '.join(signs)} |" in page
    for at, (difficulty, name) in enumerate(DIFFICULTY_NAMES.items()):
        cells = [
            share(counts, at)
            for found in results.values()
            for counts in dict.fromkeys((found.difficulties, found.level_difficulties))
        ]
        shares = " | ".join(cells)
        assert f"| {difficulty} {name} | {shares} |" in page
    counts = [
        f"{sum(each):,}"
        for found in results.values()
        for each in dict.fromkeys((found.difficulties, found.level_difficulties))
    ]
    assert f"| {' | '.join(counts)} |" in page


def signed(value: float | None) -> str:
    assert value is not None
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def share(counts: tuple[int, ...], at: int) -> str:
    return f"{100 * counts[at] / sum(counts):.1f} %"


def test_the_chart_shows_the_study(results: dict[str, PlayersFindings]) -> None:
    chart = (FOLDER / "chart.svg").read_text("utf-8")
    for found in results.values():
        assert f"<!-- {found.study.rules} -->" in chart
        for deals, (difficulty, name) in zip(found.difficulties, DIFFICULTY_NAMES.items(), strict=True):
            assert f"<!-- {difficulty} {name}, {100 * deals / found.cleared:.0f} % -->" in chart


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
def test_playing_the_deals_again_gives_the_same_findings(
    rules: str, results: dict[str, PlayersFindings]
) -> None:
    with local_work(2) as work:
        assert play(results[rules].study, work) == results[rules]
