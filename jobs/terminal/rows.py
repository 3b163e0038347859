"""Rows of a query as CSV, as lines of JSON, and as cells of a table.

JSON has fewer types than SQL: dates and times become ISO texts, bytes become hexadecimal digits, integers of
any size stay integers, and NaN and infinity become null.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, BinaryIO, Final

from jobs.terminal.output import json_line, shown_text
from solver.errors import UsageError

_CSV_ENDING: Final = "\n"
_MAX_CELL: Final = 60
_MAX_MULTILINE_CELL: Final = 20_000
_FLOAT_DIGITS: Final = 6
_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Convert an SQL value to a JSON value."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
    return str(value)


def write_json(stream: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write one JSON object per line.

    Raises:
        UsageError: two columns have the same name.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two columns are called {twice[0]!r}; rename one with AS, because JSON needs distinct names"
        )
    stream.writelines(_object_line(names, row) for row in rows)


def _object_line(names: Sequence[str], row: Sequence[Any]) -> bytes:
    try:
        return json_line(dict(zip(names, row, strict=True)))
    except (TypeError, ValueError):  # a value without JSON equivalent; too rare to check every value
        return json_line(dict(zip(names, map(plain, row), strict=True)))


def write_csv(stream: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write comma-separated values in UTF-8 with a header; null is empty, lists are JSON text."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        writer = csv.writer(text, lineterminator=_CSV_ENDING)
        writer.writerow(names)
        writer.writerows([_csv_cell(value) for value in row] for row in rows)
    finally:
        text.detach()  # the caller closes the stream


def _csv_cell(value: Any) -> Any:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float() | None:
            return value
    return _json_text(value) if isinstance(value, list | tuple | Mapping) else plain(value)


def _json_text(value: Any) -> str:
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError):  # as in `_object_line`
        return _JSON.encode(plain(value))


def cell_text(value: Any) -> str:
    """Format a value for a table; single lines are cut much shorter than texts of several lines."""
    match value:
        case None:
            return ""
        case float():
            return f"{value:.{_FLOAT_DIGITS}g}"
        case datetime():
            return value.isoformat(sep=" ")
    text = shown_text(str(_csv_cell(value)))
    # Several lines are most likely a plan from EXPLAIN.
    most = _MAX_MULTILINE_CELL if "\n" in text else _MAX_CELL
    return text if len(text) <= most else f"{text[: most - 1]}…"
