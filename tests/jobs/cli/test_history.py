"""The commands on a pool's history: what they print as text and as JSON, and which files they write."""

import dataclasses
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
from pipeline.work.counts import Counts
from pipeline.work.records import record_document, record_path, write_record
from tests.support.command import done, fairway, files_of
from tests.support.pools import regenerated, with_nights
from tests.support.run_records import A_RECORD, run_at

NOW = datetime(2026, 12, 1, 12, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """Two generations of medium deals that have not been solved; the first has two nights."""
    root = open_root(tmp_path / "root", create=True)
    with_nights(root, (4, 3))
    regenerated(root, 6, first=8)
    return root


def document(*arguments: object) -> Any:
    return json.loads(done(*arguments).out)


def records(storage: LocalStorage) -> list[dict[str, Any]]:
    return [json.loads(storage.read(path)) for path in storage.list("runs/")]


def later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Advance the clock by some days; two runs in the same second would share a record."""
    monkeypatch.setattr(clock, "now", lambda: NOW + timedelta(days))


def test_a_rollback_switches_the_generation_writes_a_record_and_rewrites_the_views(
    storage: LocalStorage,
) -> None:
    outcome = done("pool", "rollback", "medium", "--data", storage.root)
    assert "level medium is now at generation 1: 7 deals" in outcome.text
    assert "`fairway pool rollback medium --to 2` returns to generation 2" in outcome.text
    catalog = load_catalog(storage)
    assert catalog.pool("medium").generation == 1
    assert storage.read("catalog.sql").decode() == catalog_sql(part_paths(catalog), [], runs=True)
    (record,) = records(storage)
    assert (record["job"], record["outcome"], record["change"]) == ("pool rollback", "done", 3)


def test_a_rollback_to_the_current_generation_does_nothing(storage: LocalStorage) -> None:
    before = storage.read("catalog.json")
    outcome = done("pool", "rollback", "medium", "--to", 2, "--data", storage.root)
    assert outcome.text == "nothing to do: level medium is already at generation 2\n"
    assert storage.read("catalog.json") == before
    assert records(storage)[0]["outcome"] == "nothing to do"


def test_a_rollback_to_an_unknown_generation_exits_with_2(storage: LocalStorage) -> None:
    for arguments in (["medium", "--to", 7], ["easy"], ["expert"], ["medium", "--to", 0]):
        outcome = fairway("pool", "rollback", *arguments, "--data", storage.root)
        assert outcome.code == 2
        assert outcome.complaint
    assert load_catalog(storage).change == 2


def test_compaction_reports_the_number_of_parts(storage: LocalStorage) -> None:
    done("pool", "rollback", "medium", "--data", storage.root)
    outcome = done("pool", "compact", "medium", "--data", storage.root)
    assert "level medium: 2 parts with 7 deals became 1 part with 7 deals" in outcome.text
    assert "nothing to do" in done("pool", "compact", "medium", "--data", storage.root).text
    assert "nothing to do" in done("pool", "compact", "easy", "--data", storage.root).text
    report = document("pool", "compact", "medium", "--data", storage.root, "--json")
    assert (report["parts"], report["parts_before"], report["deals"]) == (1, 1, 7)


def test_the_history_lists_generations_and_changes(
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


def test_gc_removes_nothing_recent_by_default(storage: LocalStorage) -> None:
    before = files_of(storage.root)
    assert "nothing to do" in done("gc", "--data", storage.root).text
    after = files_of(storage.root)
    assert before.keys() <= after.keys()
    assert {path for path in after if path.startswith(("deals/", "catalogs/"))} == {
        path for path in before if path.startswith(("deals/", "catalogs/"))
    }


def test_gc_removes_old_run_records_too(storage: LocalStorage) -> None:
    old = run_at(datetime(2025, 1, 1, 0, 5, tzinfo=UTC), counts=Counts())
    write_record(storage, old)
    arguments = ("gc", "--data", storage.root, "--json")
    assert document(*arguments, "--dry-run", "--keep-records", 999)["records"] == []
    assert document(*arguments)["records"] == [record_path(old)]
    assert record_path(old) not in storage.list("runs/")


def test_a_dry_run_reports_what_the_run_then_removes(storage: LocalStorage) -> None:
    before = files_of(storage.root)
    arguments = ("gc", "--keep", 0, "--older-than", 0, "--data", storage.root)
    planned = document(*arguments, "--dry-run", "--json")
    text = done(*arguments, "--dry-run").text
    assert "3 files with 0.0 MB would be removed; nothing was changed" in text
    assert files_of(storage.root) == before
    assert planned["bytes"] == sum(len(before[path]) for path in (*planned["catalogs"], *planned["parts"]))
    done_then = document(*arguments, "--json")
    assert done_then == {**planned, "dry_run": False}
    gone = before.keys() - files_of(storage.root).keys()
    assert gone == {*planned["catalogs"], *planned["parts"]}
    assert (records(storage)[0]["job"], records(storage)[0]["removed"]) == ("gc", 3)
    assert "nothing to do" in done(*arguments).text


def test_gc_keeps_and_counts_recently_replaced_catalogs(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    done("pool", "rollback", "medium", "--data", storage.root)
    later(monkeypatch, 8)
    planned = document("gc", "--keep", 0, "--older-than", 9, "--dry-run", "--data", storage.root, "--json")
    assert (planned["catalogs"], planned["young_catalogs"]) == ([], 2)
    assert (
        "2 more earlier catalogs" in done("gc", "--keep", 0, "--older-than", 9, "--data", storage.root).text
    )
    planned = document("gc", "--keep", 0, "--older-than", 8, "--dry-run", "--data", storage.root, "--json")
    assert (len(planned["catalogs"]), planned["young_catalogs"]) == (2, 0)


@pytest.mark.parametrize(
    "arguments", [["pool", "rollback", "medium"], ["pool", "compact", "medium"], ["gc"]], ids=" ".join
)
def test_a_second_run_must_wait_but_readers_need_not(storage: LocalStorage, arguments: list[str]) -> None:
    with root_lock(storage.root, NOW):
        assert fairway(*arguments, "--data", storage.root).code == 75
        for reading in (["pool", "history", "medium"], ["pool", "diff", "medium", 1, 2], ["gc", "--dry-run"]):
            done(*reading, "--data", storage.root)


def test_only_valid_records_name_the_run_that_made_a_change(storage: LocalStorage) -> None:
    record = run_at(NOW, counts=dataclasses.replace(A_RECORD.counts, change=2))
    path = write_record(storage, record)
    for number, change in enumerate((None, "5", 2.5)):
        storage.create(
            f"runs/{number}.json", json.dumps(record_document(record) | {"change": change}).encode()
        )
    storage.create("runs/x.json", b"{")
    assert runs_by_change(storage) == {2: record}
    storage.remove(path)
    assert runs_by_change(storage) == {}
