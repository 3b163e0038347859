"""The committed reference data: values from independent programs that must be matched exactly."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

REFERENCE: Final = Path(__file__).parents[2] / "data" / "reference"


@cache
def frozen() -> dict[str, Any]:
    """Return the content of `frozen_v1.json`."""
    loaded: dict[str, Any] = json.loads((REFERENCE / "frozen_v1.json").read_text("utf-8"))
    return loaded


@cache
def daily_v2() -> tuple[dict[str, Any], ...]:
    """Return the holes in `daily_v2.json`."""
    return tuple(json.loads((REFERENCE / "daily_v2.json").read_text("utf-8")))


@cache
def shuffles() -> dict[str, str]:
    """Return `shuffle_v1.txt` as notations by deal number, or by date and attempt separated by a blank."""
    lines = (REFERENCE / "shuffle_v1.txt").read_text("ascii").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


@cache
def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file whose first lines may be comments."""
    lines = (REFERENCE / name).read_text("ascii").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
