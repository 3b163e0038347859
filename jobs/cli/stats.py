"""`fairway stats`: what results say of a player, and whether par is where players are."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from jobs.cli.stats_report import document_of, tell
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.line_file import check_readable
from jobs.terminal.options import Config, Data, Json, Workers
from jobs.terminal.output import check_apart, check_outside, check_writable, put_json, sink
from jobs.terminal.plotting import check_plotting, plotting
from jobs.terminal.result_file import read_results
from pipeline.play.player import played_rounds, player_page
from pipeline.pools.catalog import load_catalog
from pipeline.studies.calibration import Calibration, calibrations
from solver.errors import UsageError

_FORMATS: Final[dict[str, Literal["svg", "png"]]] = {".svg": "svg", ".png": "png"}

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Results, one JSON object a line ('-' is standard input).",
        show_default=False,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Also draw players beside the steady player, as the .svg or .png file named.",
        show_default=False,
    ),
]


def stats(
    files: Files,
    output: Plot = None,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Summarise results.

    Of a player: holes, rounds, averages, records, streaks. For the designer: whether par is where players
    are. A line is an object such as {"deal": 617, "rules": "golf", "line": "D623", "seconds": 95}, or has a
    "date" in place of the deal, or a "score" in place of the line.

    Example: fairway stats results.jsonl -o players.svg
    """
    settings = read_settings(config, data=data, workers=workers)
    check_readable(files)
    if output is not None:
        _check_plot(output, files)
    storage = storage_at(settings)
    results = read_results(files, storage, settings.workers)
    page = player_page(results, played_rounds(results, storage, load_catalog(storage)))
    rows = calibrations(results)
    if output is not None:
        _draw(output, rows)
    if as_json:
        put_json(document_of(page, rows))
    else:
        tell(page, rows)


def _check_plot(output: Path, files: list[Path]) -> None:
    """Find out before any work whether the plot can be made."""
    if output.suffix.lower() not in _FORMATS:
        raise UsageError(f"{output} ends in neither .svg nor .png; the ending says what to draw")
    check_outside(output)
    check_apart(output, files)
    check_writable(output)
    check_plotting()


def _draw(output: Path, rows: tuple[Calibration, ...]) -> None:
    if not rows:
        raise UsageError("there are no results to draw")
    with plotting():
        from pipeline.studies.charts import calibration_chart

        picture = calibration_chart(rows, _FORMATS[output.suffix.lower()])
    with sink(output) as stream:
        stream.write(picture)
