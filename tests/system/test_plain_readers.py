"""Other tools read the parts with a plain call: nothing is inferred from the names of folders."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.dataset
import pyarrow.parquet
import pytest


def with_pandas(folder: str) -> list[str]:
    import pandas as pd  # slow to load, and this file is read by every run of the tests

    return list(pd.read_parquet(folder)["level"])


def with_polars(folder: str) -> list[str]:
    import polars as pl

    return list(pl.read_parquet(f"{folder}/**/*.parquet")["level"].to_list())


READERS: dict[str, Callable[[str], list[str]]] = {
    "pandas": with_pandas,
    "polars": with_polars,
    "pyarrow.parquet": lambda folder: pyarrow.parquet.read_table(folder)["level"].to_pylist(),
    "pyarrow.dataset": lambda folder: pyarrow.dataset.dataset(folder).to_table()["level"].to_pylist(),
    "pyarrow.dataset, hive": lambda folder: (
        pyarrow.dataset.dataset(folder, partitioning="hive").to_table()["level"].to_pylist()
    ),
    "duckdb": lambda folder: [
        level for (level,) in duckdb.execute(f"select level from '{folder}/**/*.parquet'").fetchall()
    ],
}


@pytest.mark.parametrize("tool", READERS)
def test_a_plain_call_reads_every_part_with_its_level(tool: str, regenerated_root: Path) -> None:
    levels = READERS[tool](str(regenerated_root / "deals"))
    assert Counter(levels) == {"easy": 3, "medium": 3 + 2, "hard": 3}
