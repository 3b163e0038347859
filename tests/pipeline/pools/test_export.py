"""An export has all that a client needs, the same bytes each time, and is never seen incomplete."""

import dataclasses
import hashlib
import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.deals.levels import LEVELS
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.pools import export
from pipeline.pools.catalog import Pool, empty_catalog
from pipeline.pools.export import INDEX_NAME, SHARD_DEALS, SUPERSEDED_NAME, Exported
from pipeline.pools.nights import add_nights
from pipeline.store.storage import LocalStorage
from pipeline.work.executors import local_work
from solver.errors import UsageError
from solver.table.deal import parse_deal
from solver.table.rules import RULES
from tests.support.command import files_of
from tests.support.doubles import FailingStorage, Killed, fake_admitted, fake_deal
from tests.support.pools import LEVEL, make_fake_deals

NIGHTS = (date(2026, 11, 30), date(2026, 12, 1))
TODAY = date(2026, 12, 1)


class Made(NamedTuple):
    """A data root, and a pool in it after one night of 700 deals and after another of 450."""

    root: LocalStorage
    one: Pool
    two: Pool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    root = LocalStorage(tmp_path_factory.mktemp("root"))
    catalogs = [empty_catalog()]
    with pytest.MonkeyPatch.context() as patch, local_work(1) as work:
        make_fake_deals(patch)
        for night, deals in zip(NIGHTS, (700, 450), strict=True):
            per_night = {"easy": 0, LEVEL: deals, "hard": 0}
            caps = dict.fromkeys(per_night, 10**6)
            catalogs.append(add_nights(root, catalogs[-1], LEVELS.values(), [night], per_night, caps, work))
    return Made(root, *(catalog.pool(LEVEL) for catalog in catalogs[1:]))


def export_pool(
    storage: LocalStorage, pool: Pool, folder: Path, today: date = TODAY, keep_days: int = 0
) -> Exported:
    """Export a pool; superseded shards go at once unless a test says otherwise."""
    return export.export_pool(storage, pool, folder, today, keep_days)


def read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Follow the index as a client does; every file that it names must exist and have its hash."""
    index = json.loads((folder / INDEX_NAME).read_bytes())
    deals: list[dict[str, Any]] = []
    for shard in index["shards"]:
        data = (folder / shard["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == shard["sha256"]
        document = json.loads(data)
        assert document["level"] == index["level"]
        found = document["deals"]
        assert (len(found), found[0]["number"], found[-1]["number"]) == (
            shard["deals"],
            shard["first"],
            shard["last"],
        )
        deals += found
    return index, deals


def test_a_client_finds_every_deal_of_the_pool(made: Made, tmp_path: Path) -> None:
    exported = export_pool(made.root, made.two, tmp_path / "out")
    index, deals = read(tmp_path / "out")
    numbers = [number for number in range(made.two.next_number) if fake_admitted(LEVEL, number)]
    assert [deal["number"] for deal in deals] == [str(number) for number in numbers]
    for deal, number in zip(deals, numbers, strict=True):
        assert list(deal) == ["number", "deal", "par", "rules"]
        fake = fake_deal(LEVEL, number)
        assert (parse_deal(deal["deal"]), deal["par"], deal["rules"]) == (fake.deal, fake.par, "golf")
    assert [shard["deals"] for shard in index["shards"]] == [SHARD_DEALS, SHARD_DEALS, 150]
    assert (index["level"], index["generation"], index["deals"]) == (LEVEL, 1, 1150)
    assert (exported.deals, len(exported.shards)) == (1150, 3)
    assert set(files_of(tmp_path / "out")) == {INDEX_NAME, *exported.shards}
    assert [name[:13] for name in exported.shards] == ["medium-00001-", "medium-00002-", "medium-00003-"]


def test_the_index_lists_the_ranks_that_may_be_played_on_each(made: Made, tmp_path: Path) -> None:
    export_pool(made.root, made.one, tmp_path / "out")
    rules = read(tmp_path / "out")[0]["rules"]
    letters = "A23456789TJQK"
    assert rules["name"] == "golf"
    for top in range(13):
        assert rules["plays_on"][letters[top]] == [letters[rank] for rank in RULES["golf"].plays_on[top]]


def test_files_are_compact_json_with_a_final_newline(made: Made, tmp_path: Path) -> None:
    export_pool(made.root, made.one, tmp_path / "out")
    for data in files_of(tmp_path / "out").values():
        assert data == (json.dumps(json.loads(data), separators=(",", ":")) + "\n").encode()


def test_an_export_has_the_same_bytes_each_time_and_after_an_earlier_one(made: Made, tmp_path: Path) -> None:
    export_pool(made.root, made.two, tmp_path / "fresh")
    export_pool(made.root, made.one, tmp_path / "grown")
    first_shard = sorted(files_of(tmp_path / "grown"))[1]
    for _ in range(2):
        export_pool(made.root, made.two, tmp_path / "grown")
        assert files_of(tmp_path / "grown") == files_of(tmp_path / "fresh")
    assert first_shard in files_of(tmp_path / "fresh"), "a full shard is the same after a night"


def double_target(monkeypatch: pytest.MonkeyPatch, at: int, *, after: bool) -> None:
    """Make the n-th change of the target folder fail."""

    class Failing(FailingStorage):
        def __init__(self, folder: Path) -> None:
            local = LocalStorage(folder)
            super().__init__(local, at, Killed(), after=after)
            self.root = local.root
            self.clear_leftovers = local.clear_leftovers

    monkeypatch.setattr(export, "LocalStorage", Failing)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("earlier", [False, True])
def test_killed_at_any_change_a_client_sees_one_whole_export_and_the_next_run_finishes(
    made: Made, tmp_path: Path, after: bool, earlier: bool
) -> None:
    export_pool(made.root, made.one, tmp_path / "one")
    export_pool(made.root, made.two, tmp_path / "two")
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    kills = 0
    for step in range(20):
        folder = tmp_path / f"step-{step}"
        if earlier:
            shutil.copytree(tmp_path / "one", folder)
        with pytest.MonkeyPatch.context() as patch:
            double_target(patch, step, after=after)
            try:
                export_pool(made.root, made.two, folder)
            except Killed:
                kills += 1
            else:
                break
        if earlier or INDEX_NAME in files_of(folder):
            assert read(folder) in ((one, two) if earlier else (two,))
        export_pool(made.root, made.two, folder)
        assert files_of(folder) == files_of(tmp_path / "two")
    assert kills == (5 if earlier else 4)


def test_a_shard_that_was_damaged_is_written_again(made: Made, tmp_path: Path) -> None:
    exported = export_pool(made.root, made.one, tmp_path / "out")
    whole = files_of(tmp_path / "out")
    (tmp_path / "out" / exported.shards[1]).write_bytes(b"{}")
    (tmp_path / "out" / ".incoming-77").write_bytes(b"half")
    export_pool(made.root, made.one, tmp_path / "out")
    assert files_of(tmp_path / "out") == whole


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("thesis.tex", b"mine"),
        ("sub/folder", b"mine"),
        ("index.json", b"<html>"),
        ("index.json", b'{"schema":"fairway-pool/1.0","level":"easy"}'),
        ("index.json", b'{"schema":"fairway-index/1.0","level":"medium"}'),
        ("easy-00001-0123456789abcdef.json", b"{}"),
        ("medium-1.json", b"{}"),
    ],
)
def test_a_folder_with_something_else_is_refused_and_left_alone(
    made: Made, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    shown = name.partition("/")[0]
    with pytest.raises(UsageError, match=rf"contains something else \({shown}\); choose an empty"):
        export_pool(made.root, made.one, tmp_path)
    assert files_of(tmp_path) == {name: data}


def test_an_export_into_the_data_root_is_refused(made: Made, tmp_path: Path) -> None:
    before = files_of(made.root.root)
    (tmp_path / "link").symlink_to(made.root.root)
    for folder in (
        made.root.root,
        made.root.root / "out",
        made.root.root / "a" / ".." / "out",
        tmp_path / "link" / "out",
    ):
        with pytest.raises(UsageError, match="is inside the data root"):
            export_pool(made.root, made.one, folder)
    with pytest.raises(UsageError, match="contains something else"):
        export_pool(made.root, made.one, made.root.root.parent)
    assert files_of(made.root.root) == before


def test_exporting_into_a_file_is_refused(made: Made, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(UsageError, match="is not a folder; give a folder"):
        export_pool(made.root, made.one, tmp_path / "file")
    with pytest.raises(StorageError, match="move away the file"):
        export_pool(made.root, made.one, tmp_path / "file" / "out")


def test_an_empty_pool_is_not_exported(made: Made, tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="the pool of level hard is empty; `fairway nightly` fills it"):
        export_pool(made.root, empty_catalog().pool("hard"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_pool_leaves_the_old_export(made: Made, tmp_path: Path) -> None:
    export_pool(made.root, made.one, tmp_path / "out")
    before = read(tmp_path / "out")
    wrong = dataclasses.replace(made.two.parts[1], sha256="0" * 64)
    with pytest.raises(DamagedError, match="its hash is not the one in the catalog"):
        export_pool(
            made.root, dataclasses.replace(made.two, parts=(made.two.parts[0], wrong)), tmp_path / "out"
        )
    assert read(tmp_path / "out") == before


def test_superseded_shards_stay_for_some_days_for_clients_with_an_earlier_index(
    made: Made, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def later(days: int, pool: Pool = made.two) -> set[str]:
        export_pool(made.root, pool, out, TODAY + timedelta(days), 30)
        return set(files_of(out)) - {INDEX_NAME, SUPERSEDED_NAME}

    earlier = later(0, made.one)
    assert set(files_of(out)) == {INDEX_NAME, *earlier}
    current = {shard["file"] for shard in read(out)[0]["shards"]}
    both = later(1)
    assert both > earlier
    assert read(out)[0]["deals"] == made.two.size
    assert later(30) == both
    assert later(5) == both  # a clock that was ahead or behind removes nothing early
    assert later(31) == both - earlier | (earlier & {shard["file"] for shard in read(out)[0]["shards"]})
    assert later(31, made.one) >= current  # named again, a shard is no longer superseded
    assert not current & set(json.loads((out / SUPERSEDED_NAME).read_bytes())["since"])


@pytest.mark.parametrize("content", [b"", b"[]", b'{"since":[]}', b'{"since":{"a":7}}'])
def test_if_it_is_not_known_since_when_shards_are_superseded_they_stay(
    made: Made, tmp_path: Path, content: bytes
) -> None:
    out = tmp_path / "out"
    export_pool(made.root, made.one, out)
    export_pool(made.root, made.two, out, keep_days=30)
    before = set(files_of(out))
    (out / SUPERSEDED_NAME).write_bytes(content)
    export_pool(made.root, made.two, out, TODAY + timedelta(days=99), 30)
    assert set(files_of(out)) == before
