"""`fairway study`: how many deals can be cleared, how good their best scores are, and a chart of it."""

from pathlib import Path
from typing import Annotated

import typer

from jobs.cli.study_report import document_of, tell
from jobs.terminal.context import read_settings, storage_at, tools_with
from jobs.terminal.options import Config, Data, Json, Workers, number_option
from jobs.terminal.output import (
    STANDARD,
    check_apart,
    check_outside,
    check_writable,
    note,
    put_json,
    say,
    sink,
)
from jobs.terminal.progress import shown_progress
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.studies.winnability import MOST_NUMBERS, Block, Study, aligned, findings, joined
from solver.errors import UsageError
from solver.table.rules import RULES

StudyRules = Annotated[
    str, typer.Option("--rules", metavar="RULES", help=f"One of {', '.join(RULES)}.", show_default=False)
]
DealCount = Annotated[int, number_option("--deals", "How many deals.", least=1, most=MOST_NUMBERS)]
FirstNumber = Annotated[
    int, number_option("--from-number", "The first deal number.", least=0, most=MOST_DEAL_NUMBER)
]
Fewest = Annotated[
    bool, typer.Option("--fewest", help="Where a deal cannot be cleared, find the fewest cards left.")
]
Counts = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Also write the counts to this Parquet file; with '-' to standard output, and nothing else.",
        show_default=False,
    ),
]


def winnability(
    rules: StudyRules,
    deals: DealCount,
    first: FirstNumber = 0,
    fewest: Fewest = False,
    output: Counts = None,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Count the deals that can be cleared.

    Consecutive deal numbers are solved, and their best scores counted. The counts of each 10,000 numbers are
    kept in the data root, so that the same command goes on from there after a stop.

    Example: fairway study winnability --rules golf --deals 100000 --fewest
    """
    from jobs.runs.study import run_study

    study = Study(rules, fewest, first, deals)
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings, create=True)
    if output is not None:
        check_outside(output)
        check_writable(output)  # now, and not after hours of work
    try:
        with shown_progress(time_left=True) as progress:
            report = run_study(storage, study, settings, tools_with(settings, progress))
    except (KeyboardInterrupt, SystemExit):
        note("stopped; what was counted is kept, and the same command goes on from there")
        raise
    for path in report.result.remade:
        note(f"{path} was damaged and has been made again")
    if output is not None:
        _write_counts(output, report.result.blocks)
    if output == STANDARD:
        return  # standard output holds the counts, and nothing else must be among them
    found, reused = findings(joined(report.result.blocks)), report.result.reused
    if as_json:
        put_json(document_of(found) | {"reused": reused, "seconds": report.seconds})
        return
    tell(found)
    others = "" if reused == deals else f"; the others took {report.seconds:.1f} s"
    say(f"\n{reused:,} of the deals were counted before{others}")


def chart(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Counts, as `study winnability -o` writes them.", show_default=False
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The SVG file.", show_default=False)
    ],
) -> None:
    """Draw the best scores of studies.

    One panel for each file of counts, on one scale.

    Example: fairway study chart golf.parquet relaxed.parquet -o chart.svg
    """
    from pipeline.studies.study_chart import study_chart
    from pipeline.studies.study_schema import read_whole

    check_apart(output, files)
    check_outside(output)
    picture = study_chart([read_whole(_content(file), str(file)) for file in files])
    with sink(output) as stream:
        stream.write(picture.encode())


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error


def _write_counts(file: Path, blocks: tuple[Block, ...]) -> None:
    from pipeline.studies.study_schema import blocks_bytes

    with sink(file) as stream:
        stream.write(blocks_bytes(aligned(blocks)))
