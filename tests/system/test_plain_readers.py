"""Other tools read the parts with a plain call: nothing is inferred from the names of folders."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset
import pyarrow.parquet
import pytest

READERS: dict[str, Callable[[str], list[str]]] = {
    "pandas": lambda folder: list(pd.read_parquet(folder)["level"]),
    "polars": lambda folder: pl.read_parquet(f"{folder}/**/*.parquet")["level"].to_list(),
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
