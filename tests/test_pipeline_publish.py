"""Publishing: created once, in an order that holds after any stop, the same bytes however it came about."""

import dataclasses
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from pipeline import publish as module
from pipeline.daily import DailyHole, choose
from pipeline.documents import INDEX_SCHEMA, parse, render, schema_faults
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.ledger import (
    INDEX_PATH,
    daily_path,
    parse_index,
    private_solution_path,
    published_days,
    sha256_of,
    solution_path,
)
from pipeline.progress import SILENT
from pipeline.publish import Published, make_daily, publish, rebuild_index
from pipeline.storage import LocalStorage, Storage
from solver.errors import UsageError
from tests.doubles import FailingStorage, Killed
from tests.reference import REFERENCE

KEY = bytes(range(32))
OTHER_KEY = bytes(32)
DAYS = tuple(date(2026, 11, 27) + timedelta(days=n) for n in range(4))  # to the 30th
ALL_OVER = datetime(2026, 12, 1, 12, tzinfo=UTC)
HALF_OVER = datetime(2026, 11, 29, 12, tzinfo=UTC)  # the 27th and the 28th are over
NONE_OVER = datetime(2026, 11, 27, tzinfo=UTC)
NEVER = -1

EMPTY_INDEX = render({"schema": INDEX_SCHEMA, "dailies": []})

Files = dict[str, bytes]

made_before = cache(make_daily)  # the tests publish the same few holes over and over


@pytest.fixture(autouse=True)
def holes_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "make_daily", made_before)


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


@dataclasses.dataclass
class Site:
    """A data root and what publishes into it."""

    root: LocalStorage
    executor: Executor
    progress: Any = SILENT

    def publish(
        self,
        days: Sequence[date] = DAYS,
        now: datetime = HALF_OVER,
        key: bytes | None = None,
        storage: Storage | None = None,
    ) -> Published:
        return publish(storage or self.root, days, key, now, self.executor, self.progress)

    def files(self) -> Files:
        return {path: self.root.read(path) for path in self.root.list("")}

    def changes(self, now: datetime = HALF_OVER, key: bytes | None = None) -> list[tuple[str, str]]:
        """What publishing writes here, in order."""
        recorder = FailingStorage(self.root, NEVER, Killed())
        self.publish(now=now, key=key, storage=recorder)
        return recorder.changes


@pytest.fixture
def site(tmp_path: Path, executor: Executor) -> Site:
    return Site(LocalStorage(tmp_path / "site"), executor)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, executor: Executor) -> Files:
    """The files after one quiet run."""
    other = Site(LocalStorage(tmp_path_factory.mktemp("undisturbed")), executor)
    other.publish()
    return other.files()


# What is written


def test_the_published_files_are_the_reference_byte_for_byte(site: Site) -> None:
    published = site.publish([date(2026, 11, 30)], NONE_OVER)
    assert published == Published((date(2026, 11, 30),), 0, ())
    files = site.files()
    assert files.pop("daily/2026-11-30.json") == (REFERENCE / "daily-2026-11-30.json").read_bytes()
    solution = (REFERENCE / "solution-2026-11-30.json").read_bytes()
    assert files.pop("private/solutions/2026-11-30.json") == solution
    assert list(files) == [INDEX_PATH]


def test_the_index_lists_what_is_there_in_the_order_of_dates(site: Site) -> None:
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


def test_a_solution_is_nowhere_public_before_its_date_is_over(site: Site) -> None:
    site.publish(now=HALF_OVER)
    for day in DAYS:
        over = day <= date(2026, 11, 28)
        there = [path(day) in site.files() for path in (solution_path, private_solution_path)]
        assert there == [over, not over]


def test_from_the_first_daily_on_there_is_an_index_and_solutions_come_before_their_dailies(
    site: Site,
) -> None:
    places = [path for operation, path in site.changes() if operation != "remove"]
    solutions = [solution_path(DAYS[0]), solution_path(DAYS[1])]
    solutions += [private_solution_path(DAYS[2]), private_solution_path(DAYS[3])]
    dailies = [daily_path(day) for day in DAYS]
    pairs = [path for pair in zip(solutions, dailies, strict=True) for path in pair]
    assert places == [INDEX_PATH, *pairs, INDEX_PATH]


def test_dailies_are_only_ever_created(site: Site) -> None:
    operations = {operation for operation, path in site.changes() if path in map(daily_path, DAYS)}
    assert operations == {"create"}


def test_another_order_and_several_runs_give_the_same_files(site: Site, undisturbed: Files) -> None:
    for day in (DAYS[2], DAYS[0], DAYS[3], DAYS[1]):
        site.publish([day])
    assert site.files() == undisturbed


def test_a_second_run_writes_nothing(site: Site) -> None:
    site.publish()
    assert site.changes() == []
    assert site.publish() == Published((), len(DAYS), ())


def test_progress_is_told_of_each_hole(site: Site) -> None:
    told = []

    class Recorder:
        def update(self, task: str, done: int, total: int) -> None:
            told.append((task, done, total))

    site.progress = Recorder()
    site.publish()
    assert told == [("daily", done, len(DAYS)) for done in range(1, len(DAYS) + 1)]


def test_a_date_before_the_first_hole_is_refused_before_anything_is_written(site: Site) -> None:
    with pytest.raises(UsageError, match="there is no hole for 2025-12-31"):
        site.publish([DAYS[0], date(2025, 12, 31)])
    assert site.files() == {}


def test_work_and_result_can_travel_to_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    work = pickle.loads(pickle.dumps(partial(make_daily, key=KEY)))
    made = work(DAYS[0])
    assert pickle.loads(pickle.dumps(made)) == made


# Stopped anywhere

CHANGES = 10  # the index, two files a hole, the index again


def test_the_number_of_changes_is_what_the_tests_below_go_through(site: Site) -> None:
    assert len(site.changes()) == CHANGES


def assert_sound(site: Site) -> None:
    """What any reader may rely on at any moment."""
    solutions = {sha256_of(data) for path, data in site.files().items() if "solutions/" in path}
    for day in published_days(site.root):
        assert parse(site.root.read(daily_path(day)), "daily")["solution_sha256"] in solutions
    if INDEX_PATH in site.files():
        for day, entry in parse_index(site.root.read(INDEX_PATH)).items():
            assert sha256_of(site.root.read(daily_path(day))) == entry["sha256"]
            if entry["solution"] is not None:
                assert sha256_of(site.root.read(solution_path(day))) == entry["solution"]["sha256"]


STOPS = {
    "killed before it": (Killed(), False),
    "killed after it": (Killed(), True),
    "no space for it": (StorageError("no space left"), False),
}


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("at", range(CHANGES))
def test_stopped_at_any_change_the_next_run_completes_it_to_the_same_bytes(
    site: Site, undisturbed: Files, at: int, stop: tuple[BaseException, bool]
) -> None:
    fault, after = stop
    with pytest.raises(type(fault)):
        site.publish(storage=FailingStorage(site.root, at, fault, after=after))
    assert_sound(site)
    site.publish()
    assert site.files() == undisturbed


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("at", range(5))
def test_stopped_while_two_solutions_move_the_next_run_completes_it(
    site: Site, undisturbed: Files, at: int, stop: tuple[BaseException, bool]
) -> None:
    fault, after = stop
    site.publish(now=NONE_OVER)
    with pytest.raises(type(fault)):
        site.publish(storage=FailingStorage(site.root, at, fault, after=after))
    assert_sound(site)
    site.publish()
    assert site.files() == undisturbed


def test_two_solutions_move_in_five_changes(site: Site) -> None:
    site.publish(now=NONE_OVER)
    moves = [
        move
        for day in DAYS[:2]
        for move in (("create", solution_path(day)), ("remove", private_solution_path(day)))
    ]
    assert site.changes() == [*moves, ("replace", INDEX_PATH)]


@pytest.mark.parametrize("leftover_now", [NONE_OVER, ALL_OVER], ids=["private", "public"])
def test_a_solution_left_under_another_key_gives_way(
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


# What is out stays


@pytest.mark.parametrize("days", [DAYS, DAYS[:2]], ids=["all", "some"])
def test_a_published_hole_survives_another_key_and_a_clock_set_back(site: Site, days: Sequence[date]) -> None:
    site.publish(days)
    before = site.files()
    site.publish(days, HALF_OVER - timedelta(days=400), KEY)
    assert site.files() == before
    site.publish(DAYS, HALF_OVER, KEY)
    files = site.files()
    assert {path: files[path] for path in before if path != INDEX_PATH} == {
        path: data for path, data in before.items() if path != INDEX_PATH
    }


def test_a_published_hole_survives_a_newer_policy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.publish()
    before = site.files()
    monkeypatch.setattr(module, "make_daily", lambda day, key: made_before(day, KEY))
    site.publish()
    assert site.files() == before


def as_the_hole_of(day: date, monkeypatch: pytest.MonkeyPatch, *others: date) -> None:
    """Let other dates have the hole of a date."""

    def twin(asked: date, key: bytes | None) -> DailyHole:
        return dataclasses.replace(choose(day if asked in others else asked, key), day=asked)

    monkeypatch.setattr(module, "choose", twin)
    monkeypatch.setattr(module, "make_daily", make_daily)


def test_two_dates_of_one_run_never_get_one_puzzle(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    as_the_hole_of(DAYS[0], monkeypatch, DAYS[1])
    with pytest.raises(CheckError, match=rf"{DAYS[1]} was not published: its puzzle .*/{DAYS[0]}\.json"):
        site.publish()
    assert published_days(site.root) == (DAYS[0], *DAYS[2:])
    assert tuple(parse_index(site.root.read(INDEX_PATH))) == (DAYS[0], *DAYS[2:])


def test_a_date_never_gets_the_puzzle_of_one_that_is_out(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.publish([DAYS[2]])
    as_the_hole_of(DAYS[2], monkeypatch, DAYS[0])
    with pytest.raises(CheckError, match=rf"{DAYS[0]} was not published: its puzzle .*/{DAYS[2]}\.json"):
        site.publish()
    assert published_days(site.root) == DAYS[1:]


@pytest.mark.parametrize("line", ["D", "1" * 35])
def test_a_hole_whose_line_fails_its_replay_is_not_published(
    site: Site, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    hole = choose(DAYS[0], None)
    wrong = dataclasses.replace(hole, certified=dataclasses.replace(hole.certified, line=line))
    monkeypatch.setattr(module, "choose", lambda day, key: wrong)
    monkeypatch.setattr(module, "make_daily", make_daily)
    with pytest.raises(CheckError, match=f"the hole made for {DAYS[0]} is not right and was not published"):
        site.publish(DAYS[:1])
    assert site.files() == {INDEX_PATH: EMPTY_INDEX}


# Damage


def edit(site: Site, path: str, **fields: object) -> None:
    """Change fields of a document by hand."""
    site.root.replace(path, render(parse(site.root.read(path), path) | fields))


def test_a_daily_edited_by_hand_stays_and_the_index_keeps_the_hash_it_was_published_with(site: Site) -> None:
    site.publish(DAYS[:2])
    index = parse_index(site.root.read(INDEX_PATH))
    edit(site, daily_path(DAYS[0]), attempt=99)
    edited = site.root.read(daily_path(DAYS[0]))
    with pytest.raises(DamagedError, match=rf"daily/{DAYS[0]}\.json has changed since daily/index\.json"):
        site.publish()
    assert site.root.read(daily_path(DAYS[0])) == edited
    assert published_days(site.root) == DAYS
    assert parse_index(site.root.read(INDEX_PATH))[DAYS[0]] == index[DAYS[0]]


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff", b'{"schema":"fairway-daily/1.0"}\n'])
def test_a_damaged_daily_stands_in_nobodys_way_and_is_not_replaced(site: Site, content: bytes) -> None:
    site.root.create(daily_path(DAYS[1]), content)
    with pytest.raises(DamagedError, match=rf"daily/{DAYS[1]}\.json"):
        site.publish()
    assert site.root.read(daily_path(DAYS[1])) == content
    assert tuple(parse_index(site.root.read(INDEX_PATH))) == (DAYS[0], *DAYS[2:])


def test_a_daily_under_another_date_is_not_listed(site: Site) -> None:
    site.root.create(daily_path(DAYS[1]), made_before(DAYS[0], None).daily)
    with pytest.raises(DamagedError, match=r"\$\.date: 2026-11-27 is not that of the file's name"):
        site.publish()
    assert DAYS[1] not in parse_index(site.root.read(INDEX_PATH))


def test_a_daily_that_went_comes_back_as_it_was(site: Site) -> None:
    site.publish()
    before = site.files()
    site.root.remove(daily_path(DAYS[1]))
    site.publish()
    assert site.files() == before


def test_a_daily_that_went_does_not_come_back_as_another(site: Site) -> None:
    site.publish()
    site.root.remove(daily_path(DAYS[1]))
    before = site.files()
    with pytest.raises(CheckError, match=f"{DAYS[1]} was not published: another hole was, before"):
        site.publish(key=KEY)
    assert site.files() == before


def test_a_daily_that_went_is_still_listed_and_missed(site: Site) -> None:
    site.publish()
    site.root.remove(daily_path(DAYS[0]))
    before = site.files()
    with pytest.raises(DamagedError, match=rf"daily/{DAYS[0]}\.json is gone, but daily/index\.json lists it"):
        site.publish(DAYS[1:])
    assert site.files() == before


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"schema":"fairway-index/2.0"}\n'])
def test_an_index_that_is_lost_is_rebuilt_to_the_same_bytes(site: Site, content: bytes | None) -> None:
    site.publish()
    before = site.files()
    site.root.remove(INDEX_PATH)
    if content is not None:
        site.root.create(INDEX_PATH, content)
    assert rebuild_index(site.root) == ()
    assert site.files() == before


# Solutions


@pytest.mark.parametrize(
    ("now", "released"),
    [
        (datetime(2026, 11, 28, 11, 59, 59, tzinfo=UTC), ()),
        (datetime(2026, 11, 28, 12, tzinfo=UTC), DAYS[:1]),
        (datetime(2026, 11, 29, 11, 59, tzinfo=UTC), DAYS[:1]),
        (ALL_OVER, DAYS),
    ],
    ids=str,
)
def test_solutions_come_out_at_noon_utc_of_the_next_day(
    site: Site, now: datetime, released: tuple[date, ...]
) -> None:
    site.publish(now=NONE_OVER)
    assert site.publish(now=now) == Published((), len(DAYS), released)
    assert list(site.root.list("daily/solutions/")) == [solution_path(day) for day in released]
    waiting = [day for day in DAYS if day not in released]
    assert list(site.root.list("private/")) == [private_solution_path(day) for day in waiting]
    entries = parse_index(site.root.read(INDEX_PATH))
    assert [day for day, entry in entries.items() if entry["solution"]] == list(released)


def test_releasing_one_by_one_gives_the_files_that_publishing_late_gives(site: Site, tmp_path: Path) -> None:
    for hours in range(0, 24 * 6, 6):
        site.publish(now=NONE_OVER + timedelta(hours=hours))
    late = Site(LocalStorage(tmp_path / "late"), site.executor)
    late.publish(now=ALL_OVER)
    assert site.files() == late.files()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"D" * 100_000])
def test_a_solution_that_does_not_match_is_not_released(site: Site, content: bytes) -> None:
    site.publish(DAYS[:3], NONE_OVER)
    site.root.replace(private_solution_path(DAYS[0]), content)
    with pytest.raises(DamagedError, match=rf"the solution that daily/{DAYS[0]}\.json promises is neither"):
        site.publish(now=ALL_OVER)
    assert site.root.read(private_solution_path(DAYS[0])) == content
    assert published_days(site.root) == DAYS
    entries = parse_index(site.root.read(INDEX_PATH))
    assert [entry["solution"] is not None for entry in entries.values()] == [False, True, True, True]


def test_a_solution_that_is_lost_is_missed_when_it_is_due(site: Site) -> None:
    site.publish(now=NONE_OVER)
    site.root.remove(private_solution_path(DAYS[1]))
    site.publish(now=NONE_OVER)
    with pytest.raises(DamagedError, match=rf"the solution that daily/{DAYS[1]}\.json promises is neither"):
        site.publish(now=ALL_OVER)
    assert solution_path(DAYS[0]) in site.files()


def test_a_wrong_public_solution_gives_way_to_the_right_private_one(site: Site) -> None:
    site.publish(now=NONE_OVER)
    site.root.create(solution_path(DAYS[0]), b"wrong")
    site.publish(now=ALL_OVER)
    assert sha256_of(site.root.read(solution_path(DAYS[0]))) == sha256_of(made_before(DAYS[0], None).solution)


def test_no_key_ever_reaches_a_file(site: Site) -> None:
    site.publish(key=KEY)
    everything = b"".join(site.files().values())
    assert KEY.hex().encode() not in everything
    assert KEY not in everything


def test_all_that_a_run_refused_or_found_damaged_is_one_line(site: Site) -> None:
    for day in DAYS:
        site.root.create(daily_path(day), b"")
    with pytest.raises(DamagedError, match="and 1 more") as caught:
        site.publish()
    assert "\n" not in str(caught.value)
