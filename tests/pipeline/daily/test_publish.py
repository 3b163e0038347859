"""Publishing gives the same bytes in any order, and can be completed after any stop."""

import dataclasses
import pickle
from datetime import date, datetime
from functools import partial
from pathlib import Path

import pytest

from pipeline.daily.files import (
    INDEX_PATH,
    daily_path,
    private_solution_path,
    published_daily,
    published_days,
    solution_path,
)
from pipeline.daily.ledger import parse_index
from pipeline.daily.publish import Published, make_daily
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.store.documents import INDEX_SCHEMA, parse, schema_faults
from pipeline.store.text import sha256_of
from solver.errors import UsageError
from tests.support.doubles import FailingStorage, Killed, Recorder
from tests.support.publishing import (
    ALL_OVER,
    DAYS,
    EMPTY_INDEX,
    HALF_OVER,
    KEY,
    NONE_OVER,
    OTHER_KEY,
    WORK,
    Files,
    Site,
    site_in,
)
from tests.support.reference import REFERENCE

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files after one run without interruption."""
    other = site_in(tmp_path_factory.mktemp("undisturbed"))
    other.publish()
    return other.files()


def test_the_published_files_are_the_reference_byte_for_byte(site: Site) -> None:
    published = site.publish([date(2026, 11, 30)], NONE_OVER)
    assert published == Published((date(2026, 11, 30),), 0, ())
    files = site.files()
    assert files.pop("daily/2026-11-30.json") == (REFERENCE / "daily-2026-11-30.json").read_bytes()
    solution = (REFERENCE / "solution-2026-11-30.json").read_bytes()
    assert files.pop("private/solutions/2026-11-30.json") == solution
    assert list(files) == [INDEX_PATH]


def test_the_index_lists_the_dailies_by_date(site: Site) -> None:
    site.publish(DAYS[::-1])
    index = parse(site.root.read(INDEX_PATH), INDEX_PATH)
    assert schema_faults(index, INDEX_SCHEMA) == ()
    assert [entry["date"] for entry in index["dailies"]] == [day.isoformat() for day in DAYS]
    for entry in index["dailies"]:
        data = site.root.read(f"daily/{entry['file']}")
        daily = parse(data, entry["file"])
        assert {name: daily[name] for name in ("date", "hole", "par")}.items() <= entry.items()
        assert entry["sha256"] == sha256_of(data)
        if entry["solution"] is not None:
            assert entry["solution"]["sha256"] == daily["solution_sha256"]
            assert sha256_of(site.root.read(f"daily/{entry['solution']['file']}")) == daily["solution_sha256"]
    assert [entry["solution"] is not None for entry in index["dailies"]] == [True, True, False, False]


def test_a_solution_is_private_until_its_date_is_over(site: Site) -> None:
    site.publish(now=HALF_OVER)
    for day in DAYS:
        is_over = day <= date(2026, 11, 28)
        exist = [path(day) in site.files() for path in (solution_path, private_solution_path)]
        assert exist == [is_over, not is_over]


def test_the_index_comes_first_then_each_solution_before_its_daily(site: Site) -> None:
    solutions = [solution_path(DAYS[0]), solution_path(DAYS[1])]
    solutions += [private_solution_path(DAYS[2]), private_solution_path(DAYS[3])]
    files = [path for day, path in zip(DAYS, solutions, strict=True) for path in (path, daily_path(day))]
    created = [("create", path) for path in files]
    assert site.changes() == [("replace", INDEX_PATH), *created, ("replace", INDEX_PATH)]


def test_another_order_and_several_runs_give_the_same_files(site: Site, undisturbed: Files) -> None:
    for day in (DAYS[2], DAYS[0], DAYS[3], DAYS[1]):
        site.publish([day])
    assert site.files() == undisturbed


def test_a_second_run_writes_nothing(site: Site) -> None:
    site.publish()
    assert site.changes() == []
    assert site.publish() == Published((), len(DAYS), ())


def test_progress_is_updated_for_each_hole(site: Site) -> None:
    recorder = Recorder()
    site.work = dataclasses.replace(WORK, progress=recorder)
    site.publish()
    assert recorder.updates == [("daily", done, len(DAYS)) for done in range(1, len(DAYS) + 1)]


def test_a_date_before_the_first_hole_is_refused_before_anything_is_written(site: Site) -> None:
    with pytest.raises(UsageError, match="there is no hole for 2025-12-31"):
        site.publish([DAYS[0], date(2025, 12, 31)])
    assert site.files() == {}


def test_published_daily_checks_what_it_reads(site: Site) -> None:
    site.publish(DAYS[:2])
    assert published_daily(site.root, DAYS[0])["date"] == str(DAYS[0])
    with pytest.raises(CheckError, match=f"the Daily hole of {DAYS[2]} is not published"):
        published_daily(site.root, DAYS[2])
    with pytest.raises(UsageError, match="there is no hole for 2025-12-31"):
        published_daily(site.root, date(2025, 12, 31))
    site.edit(daily_path(DAYS[0]), date=str(DAYS[1]))
    site.edit(daily_path(DAYS[1]), par=9)
    for day in DAYS[:2]:
        with pytest.raises(DamagedError, match=f"{day}.json is damaged: "):
            published_daily(site.root, day)


def test_work_and_result_can_be_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # of `make_daily`
    work = pickle.loads(pickle.dumps(partial(make_daily, key=KEY)))
    made = work(DAYS[0])
    assert pickle.loads(pickle.dumps(made)) == made


# Stopped anywhere


def test_a_solution_is_made_public_before_its_private_copy_is_removed(site: Site) -> None:
    site.publish(now=NONE_OVER)
    moves = [
        move
        for day in DAYS[:2]
        for move in (("create", solution_path(day)), ("remove", private_solution_path(day)))
    ]
    assert site.changes() == [*moves, ("replace", INDEX_PATH)]


def assert_sound(site: Site) -> None:
    """Check what readers may rely on at any time."""
    solutions = {sha256_of(data) for path, data in site.files().items() if "solutions/" in path}
    for day in published_days(site.root):
        assert parse(site.root.read(daily_path(day)), "daily")["solution_sha256"] in solutions
    if INDEX_PATH in site.files():
        for day, entry in parse_index(site.root.read(INDEX_PATH)).items():
            assert sha256_of(site.root.read(daily_path(day))) == entry["sha256"]
            if entry["solution"] is not None:
                assert sha256_of(site.root.read(solution_path(day))) == entry["solution"]["sha256"]


STOPS = {
    "killed before": (Killed(), False),
    "killed after": (Killed(), True),
    "no space": (StorageError("no space left"), False),
}


@pytest.mark.parametrize("is_published", [False, True], ids=["four holes", "two solutions to release"])
def test_stopped_at_any_change_the_next_run_completes_it_to_the_same_bytes(
    tmp_path: Path, undisturbed: Files, is_published: bool
) -> None:
    def start(name: str) -> Site:
        site = site_in(tmp_path / name)
        if is_published:
            site.publish(now=NONE_OVER)
        return site

    for step in range(len(start("whole").changes())):
        for name, (fault, after) in STOPS.items():
            site = start(f"{step} {name}")
            with pytest.raises(type(fault)):
                site.publish(storage=FailingStorage(site.root, step, fault, after=after))
            assert_sound(site)
            site.publish()
            assert site.files() == undisturbed, (step, name)


@pytest.mark.parametrize("leftover_now", [NONE_OVER, ALL_OVER], ids=["private", "public"])
def test_a_solution_that_a_killed_run_left_under_another_key_is_replaced(
    site: Site, undisturbed: Files, leftover_now: datetime
) -> None:
    for day in (DAYS[1], DAYS[3]):
        site.root.replace(INDEX_PATH, EMPTY_INDEX)
        stop = FailingStorage(site.root, 0, Killed(), after=True)
        with pytest.raises(Killed):
            site.publish([day], leftover_now, OTHER_KEY, storage=stop)
    assert len(site.files()) == 3
    site.publish()
    assert site.files() == undisturbed
