"""`fairway query`: SQL over the deals, the Daily holes and the runs."""

import sys
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, Output, Workers, number_option
from jobs.terminal.output import STANDARD, check_outside, note, put_table, sink
from jobs.terminal.rows import cell_text, shown_text, write_csv, write_json
from pipeline.query.client import DEFAULT_SECONDS, MOST_SECONDS, Question, asked_apart
from solver.errors import UsageError

if TYPE_CHECKING:  # Arrow takes longer to load than help takes to print
    from pipeline.query.rows import Answer


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


_BY_SUFFIX: Final = {f".{name}": name for name in (Format.CSV, Format.JSON, Format.PARQUET)}
_MOST_TABLE_ROWS: Final = 1000


def query(
    statement: Annotated[
        str, typer.Argument(metavar="SQL", help="One statement in DuckDB's SQL.", show_default=False)
    ],
    output_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="How rows are written. Default: by the file's name, else a table.",
        ),
    ] = None,
    output: Output = None,
    timeout: Annotated[
        int,
        number_option("--timeout", "Seconds after which it is given up.", least=1, most=MOST_SECONDS),
    ] = DEFAULT_SECONDS,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Run a read-only SQL query.

    They are views for DuckDB's SQL. Nothing else can be read, and nothing is changed. CSV has lists as
    JSON text; JSON is one object a line; a table ends after its first 1,000 rows.

    Example: fairway query "select level, par, count(*) from deals group by all order by all"
    """
    wanted = _format(output_format, output, as_json)
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    if output is not None:
        check_outside(output)
    from jobs.settings.load import environment

    question = Question(str(storage.root), statement, settings.workers, timeout)
    with asked_apart(question, environment()) as answer:
        if answer is None:
            note("no rows: the statement has no result")
        elif wanted is Format.TABLE and output in (None, STANDARD):
            _put_table(answer)
        else:
            _write(answer, wanted, output)


def _format(given: Format | None, output: Path | None, as_json: bool) -> Format:
    """The format that was asked for, by whichever option."""
    if as_json and given not in (None, Format.JSON):
        raise UsageError(f"--json and --format {given} exclude each other; give one of them")
    if as_json:
        return Format.JSON
    is_file = output is not None and output != STANDARD
    wanted = given or (_BY_SUFFIX.get(output.suffix) if output is not None else None) or Format.TABLE
    if is_file and wanted is Format.TABLE:
        raise UsageError(f"a table is for reading; to write {output}, give --format csv, json or parquet")
    if not is_file and wanted is Format.PARQUET and sys.stdout.isatty():
        raise UsageError("Parquet is not for a terminal; give -o FILE, or send the output on")
    return wanted


def _write(answer: "Answer", wanted: Format, output: Path | None) -> None:
    with sink(output) as stream:
        if wanted is Format.PARQUET:
            answer.write_parquet(stream)
        elif wanted is Format.CSV:
            write_csv(stream, answer.names, answer.rows())
        else:
            write_json(stream, answer.names, answer.rows())


def _put_table(answer: "Answer") -> None:
    rows = answer.rows()
    shown = [[cell_text(value) for value in row] for row in islice(rows, _MOST_TABLE_ROWS)]
    names = map(shown_text, answer.names)
    put_table(list(zip(names, answer.numeric, strict=True)), shown)
    if next(rows, None) is not None:
        note(f"the first {_MOST_TABLE_ROWS:,} rows are shown; --format csv, json or parquet gives all")
