"""The committed reference data, read once: values made by independent programs that must be met exactly."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

REFERENCE: Final = Path(__file__).parents[2] / "data" / "reference"


@cache
def frozen() -> dict[str, Any]:
    """All of `frozen_v1.json`."""
    loaded: dict[str, Any] = json.loads((REFERENCE / "frozen_v1.json").read_text("utf-8"))
    return loaded


@cache
def shuffles() -> dict[str, str]:
    """`shuffle_v1.txt`: a deal number, or a date and an attempt with a blank between, to the notation."""
    lines = (REFERENCE / "shuffle_v1.txt").read_text("ascii").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


@cache
def table(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file whose first lines may be comments."""
    lines = (REFERENCE / name).read_text("ascii").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
