"""The commands on a pool's history: what they print for people and programs, and what they leave behind."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.lock import root_lock
from jobs.runs.run import runs_by_change
from jobs.terminal import clock
from pipeline.pools.catalog import load_catalog
from pipeline.query.views import catalog_sql, part_paths
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from tests.support.command import done, fairway, files_of
from tests.support.pools import made_anew, with_nights

NOW = datetime(2026, 12, 1, 12, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """Two generations of medium deals that nobody has solved; the first has two nights."""
    root = open_root(tmp_path / "root", create=True)
    with_nights(root, (4, 3))
    made_anew(root, 6, first=8)
    return root


def document(*arguments: object) -> Any:
    return json.loads(done(*arguments).out)


def records(storage: LocalStorage) -> list[dict[str, Any]]:
    return [json.loads(storage.read(path)) for path in storage.list("runs/")]


def later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Let so many days go by; two runs of one second would share a record."""
    monkeypatch.setattr(clock, "now", lambda: NOW + timedelta(days))


def test_a_rollback_switches_records_itself_and_rewrites_the_views(storage: LocalStorage) -> None:
    outcome = done("pool", "rollback", "medium", "--data", storage.root)
    assert "level medium is now at generation 1: 7 deals" in outcome.text
    assert "`fairway pool rollback medium --to 2` returns to generation 2" in outcome.text
    catalog = load_catalog(storage)
    assert catalog.pool("medium").generation == 1
    assert storage.read("catalog.sql").decode() == catalog_sql(part_paths(catalog), dailies=False, runs=True)
    (record,) = records(storage)
    assert (record["job"], record["outcome"], record["change"]) == ("pool rollback", "done", 3)


def test_a_rollback_to_where_it_is_does_nothing(storage: LocalStorage) -> None:
    before = storage.read("catalog.json")
    outcome = done("pool", "rollback", "medium", "--to", 2, "--data", storage.root)
    assert outcome.text == "nothing to do: level medium is already at generation 2\n"
    assert storage.read("catalog.json") == before
    assert records(storage)[0]["outcome"] == "nothing to do"


def test_what_cannot_be_gone_back_to_is_told_with_2(storage: LocalStorage) -> None:
    for arguments in (["medium", "--to", 7], ["easy"], ["expert"], ["medium", "--to", 0]):
        outcome = fairway("pool", "rollback", *arguments, "--data", storage.root)
        assert outcome.code == 2
        assert outcome.complaint
    assert load_catalog(storage).change == 2


def test_compaction_tells_how_many_parts_there_are(storage: LocalStorage) -> None:
    done("pool", "rollback", "medium", "--data", storage.root)
    outcome = done("pool", "compact", "medium", "--data", storage.root)
    assert "level medium: 2 parts with 7 deals became 1 part with 7 deals" in outcome.text
    assert "nothing to do" in done("pool", "compact", "medium", "--data", storage.root).text
    assert "nothing to do" in done("pool", "compact", "easy", "--data", storage.root).text
    report = document("pool", "compact", "medium", "--data", storage.root, "--json")
    assert (report["parts"], report["parts_before"], report["deals"]) == (1, 1, 7)


def test_the_history_tells_generations_and_changes(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    done("pool", "rollback", "medium", "--data", storage.root)
    later(monkeypatch, 1)
    done("pool", "compact", "medium", "--data", storage.root)
    before = files_of(storage.root)
    found = document("pool", "history", "medium", "--data", storage.root, "--json")
    assert [(each["generation"], each["deals"], each["in_force"]) for each in found["generations"]] == [
        (1, 7, True),
        (2, 6, False),
    ]
    assert [(each["change"], each["job"], each["parts"], each["in_force"]) for each in found["changes"]] == [
        (1, None, 2, False),
        (2, None, 1, False),
        (3, "pool rollback", 2, False),
        (4, "pool compact", 1, True),
    ]
    assert found["changes"][3]["made"] == "2026-12-02T12:01:00+00:00"
    assert all(sum(each["pars"].values()) == each["deals"] for each in found["changes"])
    text = done("pool", "history", "medium", "--limit", 2, "--data", storage.root).text
    assert "the last 2 of 4" in text
    assert "2026-12-01 12:01" in text
    assert files_of(storage.root) == before


def test_a_pool_without_a_history_says_so(storage: LocalStorage) -> None:
    assert "easy is empty" in done("pool", "history", "easy", "--data", storage.root).text
    found = document("pool", "history", "easy", "--data", storage.root, "--json")
    assert (found["generations"], found["changes"]) == ([], [])


def test_two_generations_are_compared(storage: LocalStorage) -> None:
    found = document("pool", "diff", "medium", 1, 2, "--data", storage.root, "--json")
    assert [each["deals"] for each in found["generations"]] == [7, 6]
    assert (found["same_deal_numbers"], found["same_puzzles"]) == (3, 3)
    assert all(sum(each["steady_scores"]) == pytest.approx(1) for each in found["generations"])
    text = done("pool", "diff", "medium", 1, 2, "--data", storage.root).text
    assert "in both: 3 deal numbers, 3 puzzles" in text
    assert all(f"steady makes {name}" in text for name in ("better", "Eagle", "Double bogey", "worse"))
    shares = [line.split()[-2] for line in text.splitlines() if line.startswith("steady makes")]
    assert sum(map(float, shares)) == pytest.approx(100, abs=0.4)
    outcome = fairway("pool", "diff", "medium", 1, 9, "--data", storage.root)
    assert "has no generation 9; known generations: 1, 2" in outcome.complaint
    assert outcome.code == 2


def test_clearing_away_changes_nothing_by_default_while_everything_is_young(storage: LocalStorage) -> None:
    before = files_of(storage.root)
    assert "nothing to do" in done("gc", "--data", storage.root).text
    after = files_of(storage.root)
    assert before.keys() <= after.keys()
    assert {path for path in after if path.startswith(("deals/", "catalogs/"))} == {
        path for path in before if path.startswith(("deals/", "catalogs/"))
    }


def test_a_dry_run_tells_what_the_run_then_does(storage: LocalStorage) -> None:
    before = files_of(storage.root)
    arguments = ("gc", "--keep", 0, "--older-than", 0, "--data", storage.root)
    told = document(*arguments, "--dry-run", "--json")
    text = done(*arguments, "--dry-run").text
    assert "3 files with 0.0 MB would be removed; nothing was changed" in text
    assert files_of(storage.root) == before
    assert told["bytes"] == sum(len(before[path]) for path in (*told["catalogs"], *told["parts"]))
    done_then = document(*arguments, "--json")
    assert done_then == {**told, "dry_run": False}
    gone = before.keys() - files_of(storage.root).keys()
    assert gone == {*told["catalogs"], *told["parts"]}
    assert (records(storage)[0]["job"], records(storage)[0]["removed"]) == ("gc", 3)
    assert "nothing to do" in done(*arguments).text


def test_what_was_replaced_not_long_ago_stays_and_is_told(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    done("pool", "rollback", "medium", "--data", storage.root)
    later(monkeypatch, 8)
    told = document("gc", "--keep", 0, "--older-than", 9, "--dry-run", "--data", storage.root, "--json")
    assert (told["catalogs"], told["young_catalogs"]) == ([], 2)
    assert (
        "2 more earlier catalogs" in done("gc", "--keep", 0, "--older-than", 9, "--data", storage.root).text
    )
    told = document("gc", "--keep", 0, "--older-than", 8, "--dry-run", "--data", storage.root, "--json")
    assert (len(told["catalogs"]), told["young_catalogs"]) == (2, 0)


@pytest.mark.parametrize(
    "arguments", [["pool", "rollback", "medium"], ["pool", "compact", "medium"], ["gc"]], ids=" ".join
)
def test_a_second_run_at_once_is_told_to_wait_and_readers_never_are(
    storage: LocalStorage, arguments: list[str]
) -> None:
    with root_lock(storage.root, NOW):
        assert fairway(*arguments, "--data", storage.root).code == 75
        for reading in (["pool", "history", "medium"], ["pool", "diff", "medium", 1, 2], ["gc", "--dry-run"]):
            done(*reading, "--data", storage.root)


def test_only_sound_records_say_who_made_a_change(storage: LocalStorage) -> None:
    sound = {"change": 2, "job": "nightly", "ended": "2026-11-30T00:05:00.000Z"}
    others: tuple[object, ...] = (
        *({**sound, "change": change} for change in (None, "5", 2.5)),
        *({**sound, "change": 9, "ended": ended} for ended in (None, 7, "", "2026-11-30T00:05:00")),
        {"job": "of an earlier version"},
    )
    for place, record in enumerate((sound, *others)):
        storage.create(f"runs/{place}.json", json.dumps(record).encode())
    storage.create("runs/x.json", b"{")
    made = runs_by_change(storage)
    assert {change: (each.job, each.ended.isoformat()) for change, each in made.items()} == {
        2: ("nightly", "2026-11-30T00:05:00+00:00")
    }
