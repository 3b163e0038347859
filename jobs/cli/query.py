"""`fairway query`: run a read-only SQL query over deals, Daily holes and runs."""

import sys
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from jobs.settings.load import environment
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.files import STANDARD, check_outside, sink
from jobs.terminal.options import Config, Data, Json, Output, Workers, number_option
from jobs.terminal.output import note
from jobs.terminal.rows import cell_text, write_csv, write_json
from jobs.terminal.tables import put_table
from pipeline.query.client import DEFAULT_SECONDS, MAX_SECONDS, QueryRequest, run_query_isolated
from solver.errors import UsageError

if TYPE_CHECKING:  # Arrow is loaded while the subprocess starts
    from pipeline.query.rows import QueryResult


class Format(StrEnum):
    """Output formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


_BY_SUFFIX: Final = {f".{name}": name for name in (Format.CSV, Format.JSON, Format.PARQUET)}
_MAX_TABLE_ROWS: Final = 1000


def query(
    statement: Annotated[
        str, typer.Argument(metavar="SQL", help="One statement in DuckDB's SQL.", show_default=False)
    ],
    output_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Output format. Default: by the suffix of the output file, or else a table.",
        ),
    ] = None,
    output: Output = None,
    timeout: Annotated[
        int,
        number_option("--timeout", "Time limit in seconds.", least=1, most=MAX_SECONDS),
    ] = DEFAULT_SECONDS,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Run a read-only SQL query.

    The views deals, dailies and runs can be queried with the SQL of DuckDB. Nothing else can be read, and
    nothing is changed. Tables stop at 1,000 rows; csv, json (one object per line) and parquet have every row.
    In csv, lists are written as JSON.

    Example: fairway query "select level, par, count(*) from deals group by all order by all"
    """
    wanted = _format(output_format, output, as_json)
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    if output is not None:
        check_outside(output)
    request = QueryRequest(str(storage.root), statement, settings.workers, timeout)
    with run_query_isolated(request, environment()) as result:
        if result is None:
            note("the statement has no result")
        elif wanted is Format.TABLE and output in (None, STANDARD):
            _put_table(result)
        else:
            _write(result, wanted, output)


def _format(given: Format | None, output: Path | None, as_json: bool) -> Format:
    """Return the output format from the options and the suffix of the output file."""
    if as_json and given not in (None, Format.JSON):
        raise UsageError(f"--json cannot be combined with --format {given}; give one of them")
    if as_json:
        return Format.JSON
    is_file = output is not None and output != STANDARD
    wanted = given or (_BY_SUFFIX.get(output.suffix) if output is not None else None) or Format.TABLE
    if is_file and wanted is Format.TABLE:
        raise UsageError(f"a table cannot be written to {output}; give --format csv, json or parquet")
    if not is_file and wanted is Format.PARQUET and sys.stdout.isatty():
        raise UsageError("Parquet cannot be written to a terminal; give -o FILE or redirect the output")
    return wanted


def _write(result: "QueryResult", wanted: Format, output: Path | None) -> None:
    with sink(output) as stream:
        if wanted is Format.PARQUET:
            result.write_parquet(stream)
        elif wanted is Format.CSV:
            write_csv(stream, result.names, result.rows())
        else:
            write_json(stream, result.names, result.rows())


def _put_table(result: "QueryResult") -> None:
    rows = result.rows()
    shown = [[cell_text(value) for value in row] for row in islice(rows, _MAX_TABLE_ROWS)]
    put_table(list(zip(result.names, result.numeric, strict=True)), shown)
    if next(rows, None) is not None:
        note(f"the first {_MAX_TABLE_ROWS:,} rows are shown; --format csv, json or parquet gives all")
