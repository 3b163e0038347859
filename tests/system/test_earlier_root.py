"""A data root with the folders of catalog layout 3 is read, checked, changed and grown; nothing is moved."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.terminal import clock
from pipeline.deals.levels import LEVELS
from pipeline.pools.catalog import CATALOG_FILE, load_catalog
from pipeline.query.views import EARLIER_HEADS, SQL_FILE
from pipeline.store.storage import LocalStorage
from pipeline.store.text import sha256_of
from tests.support.command import done
from tests.support.queries import query_here


@pytest.fixture
def earlier_root(made_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a root as an earlier Fairway made it: other folders, and the catalog that names them."""
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "3")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 1, 12, tzinfo=UTC))
    query_here(monkeypatch)
    root = tmp_path / "root"
    shutil.copytree(made_root, root)
    for level in list((root / "deals").iterdir()):
        for generation in list(level.iterdir()):
            generation.rename(level / generation.name.replace("-", "="))
        level.rename(level.with_name(f"level={level.name}"))
    text = (root / CATALOG_FILE).read_text().replace('"version": 4', '"version": 3')
    for name in LEVELS:
        text = text.replace(f"deals/{name}/generation-", f"deals/level={name}/generation=")
    hashed, _, _ = text.rpartition(',\n "sha256"')
    sha256 = sha256_of(f"{hashed}\n}}\n".encode())
    (root / CATALOG_FILE).write_text(f'{hashed},\n "sha256": "{sha256}"\n}}\n')
    (root / SQL_FILE).write_text(f"{EARLIER_HEADS[0]} and macros")
    return root


def count(root: Path, level: str) -> int:
    statement = f"select count(*) as n from deals where level = '{level}'"
    rows: dict[str, int] = json.loads(done("query", statement, "--data", root, "--json").out)
    return rows["n"]


def test_an_earlier_root_is_read_checked_and_grown_and_its_parts_stay(earlier_root: Path) -> None:
    data = ("--data", earlier_root)
    before = {path: path.read_bytes() for path in earlier_root.rglob("*.parquet")}
    assert count(earlier_root, "easy") == 12
    done("verify", *data)
    done("nightly", *data)
    assert count(earlier_root, "easy") == 15
    assert {path: path.read_bytes() for path in before} == before
    paths = [part.path for part in load_catalog(LocalStorage(earlier_root)).pool("easy").parts]
    assert [path.split("/part-")[0] for path in paths] == [
        "deals/level=easy/generation=0001",
        "deals/easy/generation-0001",
    ]
    done("verify", "--all", *data)


def test_the_pools_of_an_earlier_root_are_compacted_regenerated_and_rolled_back(earlier_root: Path) -> None:
    data = ("--data", earlier_root)
    done("nightly", *data)
    done("pool", "compact", "easy", *data)
    done("pool", "regenerate", "medium", "--size", 2, *data)
    assert (count(earlier_root, "easy"), count(earlier_root, "medium")) == (15, 2)
    done("pool", "rollback", "medium", *data)
    assert count(earlier_root, "medium") == 15
    part = next(earlier_root.glob("deals/level=medium/*/*.parquet"))
    content = part.read_bytes()
    part.unlink()
    done("repair", *data)
    assert part.read_bytes() == content
    done("gc", "--keep", 0, "--older-than", 0, *data)
    done("verify", *data)
    assert not list(earlier_root.glob("deals/level=easy/*/*.parquet"))
