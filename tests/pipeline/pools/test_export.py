"""An export has all that a client needs, the same bytes each time, and is never seen half written."""

import dataclasses
import hashlib
import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.pools import export
from pipeline.pools import nights as generate
from pipeline.pools.catalog import Pool, empty_catalog
from pipeline.pools.export import INDEX_NAME, SHARD_DEALS, export_pool
from pipeline.pools.nights import add_nights
from pipeline.store.storage import LocalStorage
from pipeline.work.executors import local_work
from solver.errors import UsageError
from solver.table.deal import parse_deal
from solver.table.rules import RULES
from tests.support.doubles import FailingStorage, Killed, fake_admitted, fake_batch, fake_deal

LEVEL = "medium"
NIGHTS = (date(2026, 11, 30), date(2026, 12, 1))


def grown(storage: LocalStorage, pool: Pool, night: date, deals: int, patch: pytest.MonkeyPatch) -> Pool:
    patch.setattr(generate, "certify_batch", fake_batch)
    patch.setattr(generate, "warm_up", lambda: None)
    per_night = {"easy": 0, LEVEL: deals, "hard": 0}
    catalog = empty_catalog().with_pool(pool)
    with local_work(1) as work:
        catalog = add_nights(storage, catalog, [night], per_night, dict.fromkeys(per_night, 10**6), work)
    return catalog.pool(LEVEL)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> LocalStorage:
    return LocalStorage(tmp_path_factory.mktemp("root"))


@pytest.fixture(scope="module")
def pools(root: LocalStorage) -> tuple[Pool, Pool]:
    """A pool after one night of 700 deals, and after another of 450."""
    with pytest.MonkeyPatch.context() as patch:
        one = grown(root, empty_catalog().pool(LEVEL), NIGHTS[0], 700, patch)
        two = grown(root, one, NIGHTS[1], 450, patch)
    return one, two


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Follow the index as a client does: everything it names must be there and hash as it says."""
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


def test_a_client_finds_every_deal_of_the_pool(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    exported = export_pool(root, pools[1], tmp_path / "out")
    index, deals = read(tmp_path / "out")
    numbers = [number for number in range(pools[1].next_number) if fake_admitted(LEVEL, number)]
    assert [deal["number"] for deal in deals] == [str(number) for number in numbers]
    for deal, number in zip(deals, numbers, strict=True):
        assert list(deal) == ["number", "deal", "par", "rules"]
        made = fake_deal(LEVEL, number)
        assert (parse_deal(deal["deal"]), deal["par"], deal["rules"]) == (made.deal, made.par, "golf")
    assert [shard["deals"] for shard in index["shards"]] == [SHARD_DEALS, SHARD_DEALS, 150]
    assert (index["level"], index["generation"], index["deals"]) == (LEVEL, 1, 1150)
    assert (exported.deals, len(exported.shards)) == (1150, 3)
    assert set(content(tmp_path / "out")) == {INDEX_NAME, *exported.shards}
    assert [name[:13] for name in exported.shards] == ["medium-00001-", "medium-00002-", "medium-00003-"]


def test_the_index_says_which_rank_goes_on_which(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    export_pool(root, pools[0], tmp_path / "out")
    rules = read(tmp_path / "out")[0]["rules"]
    letters = "A23456789TJQK"
    assert rules["name"] == "golf"
    for top in range(13):
        assert rules["plays_on"][letters[top]] == [letters[rank] for rank in RULES["golf"].plays_on[top]]


def test_files_are_json_without_blanks_that_ends_in_a_newline(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    export_pool(root, pools[0], tmp_path / "out")
    for data in content(tmp_path / "out").values():
        assert data == (json.dumps(json.loads(data), separators=(",", ":")) + "\n").encode()


def test_the_bytes_are_the_same_each_time_and_wherever_it_began(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    export_pool(root, pools[1], tmp_path / "fresh")
    export_pool(root, pools[0], tmp_path / "grown")
    first_shard = sorted(content(tmp_path / "grown"))[1]
    for _ in range(2):
        export_pool(root, pools[1], tmp_path / "grown")
        assert content(tmp_path / "grown") == content(tmp_path / "fresh")
    assert first_shard in content(tmp_path / "fresh"), "a full shard is the same after a night"


def double_target(monkeypatch: pytest.MonkeyPatch, at: int, *, after: bool) -> None:
    """Let the target folder of the export fail at its n-th change."""

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
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path, after: bool, earlier: bool
) -> None:
    export_pool(root, pools[0], tmp_path / "one")
    export_pool(root, pools[1], tmp_path / "two")
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    kills = 0
    for step in range(20):
        folder = tmp_path / f"step-{step}"
        if earlier:
            shutil.copytree(tmp_path / "one", folder)
        with pytest.MonkeyPatch.context() as patch:
            double_target(patch, step, after=after)
            try:
                export_pool(root, pools[1], folder)
            except Killed:
                kills += 1
            else:
                break
        if earlier or INDEX_NAME in content(folder):
            assert read(folder) in ((one, two) if earlier else (two,))
        export_pool(root, pools[1], folder)
        assert content(folder) == content(tmp_path / "two")
    assert kills == (5 if earlier else 4)


def test_a_shard_that_was_damaged_is_written_again(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    exported = export_pool(root, pools[0], tmp_path / "out")
    whole = content(tmp_path / "out")
    (tmp_path / "out" / exported.shards[1]).write_bytes(b"{}")
    (tmp_path / "out" / ".incoming-77").write_bytes(b"half")
    export_pool(root, pools[0], tmp_path / "out")
    assert content(tmp_path / "out") == whole


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
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    shown = name.partition("/")[0]
    with pytest.raises(UsageError, match=rf"contains something else \({shown}\); choose an empty"):
        export_pool(root, pools[0], tmp_path)
    assert content(tmp_path) == {name: data}


def test_an_export_into_the_data_root_is_refused(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    before = content(root.root)
    (tmp_path / "link").symlink_to(root.root)
    for folder in (root.root, root.root / "out", root.root / "a" / ".." / "out", tmp_path / "link" / "out"):
        with pytest.raises(UsageError, match="is inside the data root"):
            export_pool(root, pools[0], folder)
    with pytest.raises(UsageError, match="contains something else"):
        export_pool(root, pools[0], root.root.parent)
    assert content(root.root) == before


def test_exporting_into_a_file_is_refused(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(UsageError, match="is not a folder; give a folder"):
        export_pool(root, pools[0], tmp_path / "file")
    with pytest.raises(StorageError, match="move away the file"):
        export_pool(root, pools[0], tmp_path / "file" / "out")


def test_an_empty_pool_is_not_exported(root: LocalStorage, tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="the pool of level hard is empty; `fairway nightly` fills it"):
        export_pool(root, empty_catalog().pool("hard"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_pool_leaves_the_old_export(
    root: LocalStorage, pools: tuple[Pool, Pool], tmp_path: Path
) -> None:
    export_pool(root, pools[0], tmp_path / "out")
    before = read(tmp_path / "out")
    wrong = dataclasses.replace(pools[1].parts[1], sha256="0" * 64)
    with pytest.raises(DamagedError, match="its hash is not the one in the catalog"):
        export_pool(root, dataclasses.replace(pools[1], parts=(pools[1].parts[0], wrong)), tmp_path / "out")
    assert read(tmp_path / "out") == before
