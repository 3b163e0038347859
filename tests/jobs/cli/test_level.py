"""Levels as designers own them: list, show, preview, regenerate by a policy, nights of other levels."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jobs.terminal import clock
from pipeline.deals.levels import LEVELS, POLICIES_V1, RESERVED_NAMES, Level, Policy, changed
from pipeline.pools import nights
from pipeline.pools.catalog import empty_pool, load_catalog
from pipeline.pools.regenerate import plan_regeneration
from pipeline.pools.unfinished import new_record, write_record
from pipeline.store.storage import LocalStorage
from tests.support.command import commands, done, fairway, files_of

KIDS = """
active_levels = ["kids", "medium"]
deals_per_night = 3
[levels.kids]
rules = "relaxed"
mean_below = 1
difficulty_to = 1
course = [3, 3, 3, 3, 3, 3, 3, 3, 3]
"""


@pytest.fixture
def root(made_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a root with a night of 12 deals, one day later."""
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 1, 12, tzinfo=UTC))
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")
    copy = tmp_path / "root"
    shutil.copytree(made_root, copy)
    return copy


def document(*arguments: object) -> Any:
    return json.loads(done(*arguments, "--json").text)


def test_a_level_of_the_settings_gets_a_pool_and_a_retired_one_keeps_its_own(root: Path) -> None:
    (root / "fairway.toml").write_text(KIDS)
    data = ("--data", root)
    report = document("nightly", *data)
    assert [level["level"] for level in report["levels"]] == ["kids", "medium"]
    catalog = load_catalog(LocalStorage(root))
    assert {pool.level: pool.size for pool in catalog.pools} == {
        "easy": 12,
        "medium": 15,
        "hard": 12,
        "kids": 3,
    }
    policy = Policy(2, "relaxed", mean_below="1", difficulty_to=1, course=(3,) * 9)
    assert catalog.pool("kids").policy == policy
    levels = {level["level"]: level for level in document("level", "list", *data)["levels"]}
    assert {name: level["active"] for name, level in levels.items()} == {
        **dict.fromkeys(("easy", "hard"), False),
        **dict.fromkeys(("kids", "medium"), True),
    }
    assert levels["kids"]["pool"]["policy"] == {**policy.document, "sha256": policy.sha256}
    status = document("status", *data)
    assert status["is_well"], status["problems"]
    done("verify", "--all", *data)
    (root / "fairway.toml").unlink()
    assert "not in the settings" in done("level", "show", "kids", *data).text
    assert document("nightly", *data)["levels"][0]["level"] == "easy"


def test_a_preview_writes_nothing_and_agrees_with_the_pool_that_is_then_made(root: Path) -> None:
    data = ("--data", root)
    before = files_of(root)
    sets = ("--set", "mean_below=2", "--set", "course=none")
    found = document("pool", "preview", "easy", *sets, "--sample", 80, "--against", "current", *data)
    assert files_of(root) == before
    assert list(found) == ["previewed", "current"]
    assert found["current"]["policy"]["mean_below"] == "4.5"
    preview = found["previewed"]
    assert preview["sampled"] == 80
    assert preview["admitted"] == sum(preview["pars"].values()) == sum(preview["difficulties"].values()) > 0
    assert preview["admitted"] < found["current"]["admitted"] < preview["cleared"]
    share = preview["admitted_share"]
    assert share["low"] < share["value"] == preview["admitted"] / 80 < share["high"]
    assert (preview["rounds_can_be_filled"], found["current"]["rounds_can_be_filled"]) == (False, True)
    made = ("pool", "regenerate", "easy", *sets, "--size", preview["admitted"], "--from-number", 0)
    report = document(*made, "--note", "shorter", *data)
    assert report["last"] < 80
    pool = load_catalog(LocalStorage(root)).pool("easy")
    assert (pool.policy, pool.note) == (
        changed(LEVELS["easy"].policy, {"mean_below": "2", "course": "none"}),
        "shorter",
    )
    assert fairway("round", "easy", "--number", 1, *data).complaint.endswith("its policy has no course")
    assert "easy: the policy in the settings differs" in fairway("status", *data).text
    done("nightly", *data)
    grown = load_catalog(LocalStorage(root)).pool("easy")
    assert (grown.policy, grown.size > pool.size) == (pool.policy, True)
    done("verify", *data)


def test_a_preview_whose_course_cannot_be_filled_says_so_and_a_regeneration_is_refused(root: Path) -> None:
    outcome = done("pool", "preview", "easy", "--set", "mean_below=2", "--sample", 20, "--data", root)
    assert "the course 3,3,3,3,4,3,3,3,3 cannot be filled, because all deals have par 3" in outcome.text
    before = files_of(root)
    refused = fairway("pool", "regenerate", "easy", "--set", "mean_below=2", "--data", root)
    assert (refused.code, files_of(root)) == (2, before)
    assert "all deals that it admits have par 3; use those, or no course" in refused.complaint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["easy", "--set", "mean_below"], "write it as NAME=VALUE"),
        (["easy", "--set", "mean=2"], "'mean' is not part of a policy, which has rules, mean_from"),
        (["easy", "--set", "mean_below=x"], "mean_below: 'x' is not a number with at most 6 decimals"),
        (["easy", "--set", "difficulty_to=6"], "difficulty_to is 6; it must be one of 1 .. 5"),
        (["easy", "--set", "difficulty_from=0"], "difficulty_from is 0; it must be one of 1 .. 5"),
        (["easy", "--set", "course=3,3"], "course has 2 holes; a round has 9"),
        (["easy", "--set", "rules=golf", "--set", "rules=golf"], "--set names 'rules' twice"),
        (["../x", "--set", "rules=golf"], "a name is a lower-case letter"),
        (["kids"], "unknown level 'kids'; the levels are easy, medium, hard"),
        (["kids", "--set", "mean_below=2"], "a new level needs rules"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_policy_that_is_not_possible_is_one_sentence(
    arguments: list[str], message: str, root: Path
) -> None:
    before = files_of(root)
    for command in ("preview", "regenerate"):
        outcome = fairway("pool", command, *arguments, "--data", root)
        assert message in outcome.complaint
        assert outcome.code == 2
    assert files_of(root) == before


def test_against_is_only_the_current_policy(root: Path) -> None:
    outcome = fairway("pool", "preview", "easy", "--against", "before", "--data", root)
    assert "--against can only be current" in outcome.complaint


@pytest.mark.parametrize("note", ["x" * 201, "two\nlines", "\x1b[31m"])
def test_a_note_is_one_printable_line(note: str, root: Path) -> None:
    outcome = fairway("pool", "regenerate", "easy", "--note", note, "--data", root)
    assert (outcome.code, outcome.complaint) == (
        2,
        "the note must be one line of at most 200 characters",
    )


def test_a_level_that_admits_nothing_holds_up_neither_the_others_nor_the_daily(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nights, "MOST_IN_VAIN", 200)
    (root / "fairway.toml").write_text(
        'active_levels = ["tough", "medium"]\ndeals_per_night = 3\n'
        '[levels.tough]\nrules = "relaxed"\nmean_below = -12\ndifficulty_from = 5\n'
    )
    outcome = fairway("nightly", "--data", root)
    assert outcome.code == 1
    assert "level tough: its policy admitted none of 220 shuffles in a row" in outcome.complaint
    assert load_catalog(LocalStorage(root)).pool("medium").size == 15
    assert (root / "daily" / "2026-12-03.json").exists()


def test_a_level_that_the_settings_lack_keeps_the_policy_of_its_pool(root: Path) -> None:
    data = ("--data", root)
    sets = ("--set", "rules=relaxed", "--set", "mean_below=1")
    document("pool", "regenerate", "kids", *sets, "--size", 3, *data)
    policy = load_catalog(LocalStorage(root)).pool("kids").policy
    found = document("pool", "preview", "kids", "--sample", 20, "--against", "current", *data)
    assert found["previewed"] == {**found["current"], "night": found["previewed"]["night"]}
    report = document("pool", "regenerate", "kids", "--set", "difficulty_to=1", *data)
    assert report["deals"] == 3
    assert load_catalog(LocalStorage(root)).pool("kids").policy == changed(policy, {"difficulty_to": 1})


def test_an_unfinished_first_generation_of_a_level_is_resumed_or_dropped_by_its_name(root: Path) -> None:
    data = ("--data", root)
    storage = LocalStorage(root)
    policy = changed(None, {"rules": "relaxed"})
    pool = empty_pool(Level("brand", policy))
    wanted = plan_regeneration(pool, policy, 3, 0)
    write_record(storage, new_record(wanted))
    assert document("pool", "regenerate", "brand", "--size", 3, *data)["deals"] == 3


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_a_reserved_name_is_refused_before_anything_is_made(name: str, root: Path) -> None:
    before = files_of(root)
    for command in ("preview", "regenerate"):
        outcome = fairway("pool", command, name, "--set", "rules=golf", "--data", root)
        assert (outcome.code, "and not a command's" in outcome.complaint) == (2, True)
    assert files_of(root) == before


def test_policies_that_admit_the_same_do_not_differ_whatever_their_version() -> None:
    earlier = POLICIES_V1["medium"]
    assert not LEVELS["medium"].policy.differs_from(earlier)
    assert LEVELS["easy"].policy.differs_from(POLICIES_V1["easy"]) == "difficulty_to"
    assert earlier.differs_from(changed(earlier, {"course": "none"})) == "course"


@pytest.mark.parametrize(
    ("given", "stored"), [("-0", "0"), ("04.50", "4.5"), ("10", "10"), ("0.000001", "0.000001")]
)
def test_equal_bounds_are_stored_alike(given: str, stored: str) -> None:
    assert changed(LEVELS["medium"].policy, {"mean_from": given}).mean_from == stored


def test_no_level_has_the_name_of_a_command() -> None:
    assert {words.split()[1] for words, _ in commands() if " " in words} <= RESERVED_NAMES
    assert not RESERVED_NAMES & set(LEVELS)


@pytest.mark.parametrize("name", ["x", "x' or '1'='1", "x" * 3000])
def test_a_level_without_a_pool_has_no_deals_to_show_whatever_its_name(name: str, root: Path) -> None:
    outcome = fairway("pool", "show", name, "--data", root)
    assert (outcome.code, len(outcome.complaint) < 200) == (2, True)
    assert "unknown level" in outcome.complaint
