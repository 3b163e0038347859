"""Data roots of catalog layouts 3 and 4 are read, checked, changed and grown; nothing in them is moved."""

import dataclasses
import json
import shutil
from collections import Counter
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from jobs.terminal import clock
from pipeline.deals.levels import LEVELS, POLICIES_V1, Level
from pipeline.pools.catalog import CATALOG_FILE, PartName, load_catalog
from pipeline.pools.nights import make_parts
from pipeline.pools.parquet import part_bytes, part_schema
from pipeline.pools.parts import part_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.query.views import EARLIER_HEADS, SQL_FILE
from pipeline.store.storage import LocalStorage
from pipeline.store.text import sha256_of
from pipeline.versions import EARLIER_PART_VERSIONS
from pipeline.work.executors import local_work
from tests.support.command import done, fairway
from tests.support.queries import query_here


@pytest.fixture(params=[3, 4])
def earlier_root(
    request: pytest.FixtureRequest, made_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A root as an earlier Fairway made it: policies v1, parts without difficulty, an earlier catalog."""
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "3")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 1, 12, tzinfo=UTC))
    query_here(monkeypatch)
    root = tmp_path / "root"
    shutil.copytree(made_root, root)
    shutil.rmtree(root / "deals")
    pools = [_earlier_pool(root, Level(*each), request.param) for each in POLICIES_V1.items()]
    text = json.dumps({"version": request.param, "change": 1, "pools": pools}, indent=1)
    sha256 = sha256_of(f"{text}\n".encode())
    hashed = text.removesuffix("\n}")
    (root / CATALOG_FILE).write_text(f'{hashed},\n "sha256": "{sha256}"\n}}\n')
    (root / SQL_FILE).write_text(f"{EARLIER_HEADS[request.param - 3]} and macros")
    return root


def _earlier_pool(root: Path, level: Level, layout: int) -> dict[str, Any]:
    with local_work(1) as work, closing(make_parts(level, 0, [12], PuzzleIds(), work)) as parts:
        made = next(parts)
    data = part_bytes(made.rows, part_schema(EARLIER_PART_VERSIONS, level.policy))
    name = PartName(level.name, 1, made.first, made.last)
    path = name.paths[1 if layout == 3 else 0]
    (root / path).parent.mkdir(parents=True)
    (root / path).write_bytes(data)
    pars = Counter(row.par for row in made.rows)
    part = part_of(name, EARLIER_PART_VERSIONS, date(2026, 11, 30), pars, data)
    return {
        "level": level.name,
        "generation": 1,
        "newest_generation": 1,
        "next_number": made.last + 1,
        "last_night": "2026-11-30",
        "parts": [
            {
                **dataclasses.asdict(part),
                "path": path,
                "night": "2026-11-30",
                "pars": {str(par): count for par, count in part.pars.items()},
            }
        ],
    }


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
    done("verify", "--all", *data)
    pool = load_catalog(LocalStorage(earlier_root)).pool("easy")
    assert [part.path.split("/part-")[0] for part in pool.parts] == [
        next(path.relative_to(earlier_root).parent.as_posix() for path in before if "easy" in str(path)),
        "deals/easy/generation-0001",
    ]


def test_its_pools_grow_by_the_policy_they_were_made_with_and_status_says_that_the_settings_differ(
    earlier_root: Path,
) -> None:
    data = ("--data", earlier_root)
    done("nightly", *data)
    pool = load_catalog(LocalStorage(earlier_root)).pool("easy")
    assert pool.policy == POLICIES_V1["easy"]
    assert [part.versions["policy"] for part in pool.parts] == [1, 1]
    assert [part.versions["schema"] for part in pool.parts] == [1, 2]
    assert "easy: the policy in the settings differs" in fairway("status", *data).text
    statement = (
        "select level, difficulty is null as earlier, count(*) as n from deals group by 1, 2 order by 1, 2"
    )
    rows = [json.loads(line) for line in done("query", statement, *data, "--json").text.splitlines()]
    assert [(row["earlier"], row["n"]) for row in rows] == [(False, 3), (True, 12)] * 3
    connection = duckdb.connect()
    connection.sql(f"set variable fairway_root = '{earlier_root}'")
    connection.sql((earlier_root / SQL_FILE).read_text())
    assert connection.sql("select count(*), count(difficulty) from deals").fetchall() == [(45, 9)]
    done("pool", "regenerate", "easy", "--size", 3, *data)
    assert load_catalog(LocalStorage(earlier_root)).pool("easy").policy == LEVELS["easy"].policy
    done("verify", "--all", *data)


def test_the_pools_of_an_earlier_root_are_compacted_regenerated_and_rolled_back(earlier_root: Path) -> None:
    data = ("--data", earlier_root)
    done("nightly", *data)
    done("pool", "compact", "easy", *data)
    done("pool", "regenerate", "medium", "--size", 2, *data)
    assert (count(earlier_root, "easy"), count(earlier_root, "medium")) == (15, 2)
    done("pool", "rollback", "medium", *data)
    assert count(earlier_root, "medium") == 15
    earlier = load_catalog(LocalStorage(earlier_root)).pool("medium").parts[0].path
    part = earlier_root / earlier
    content = part.read_bytes()
    part.unlink()
    done("repair", *data)
    assert part.read_bytes() == content
    done("gc", "--keep", 0, "--older-than", 0, *data)
    done("verify", *data)
