"""`fairway study`: count how many deals can be cleared and their best scores, and chart the counts."""

from pathlib import Path
from typing import Annotated

import typer

from jobs.cli.study_report import findings_document, print_findings
from jobs.runs.others import run_study
from jobs.terminal.context import job_context, read_settings, storage_at
from jobs.terminal.files import STANDARD, check_output, sink
from jobs.terminal.options import Config, Data, Json, Workers, number_option
from jobs.terminal.output import note, put_json, say
from jobs.terminal.plotting import check_plotting, plotting
from jobs.terminal.progress import shown_progress
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.studies.study_schema import blocks_bytes, read_whole
from pipeline.studies.winnability import MAX_NUMBERS, Block, Study, findings, joined
from solver.errors import UsageError
from solver.table.rules import RULES

StudyRules = Annotated[
    str, typer.Option("--rules", metavar="RULES", help=f"One of {', '.join(RULES)}.", show_default=False)
]
DealCount = Annotated[int, number_option("--deals", "Number of deals.", least=1, most=MAX_NUMBERS)]
FirstNumber = Annotated[
    int, number_option("--from-number", "First deal number.", least=0, most=MOST_DEAL_NUMBER)
]
Fewest = Annotated[
    bool, typer.Option("--fewest", help="Find the fewest cards left for deals that cannot be cleared.")
]
Counts = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Also write the counts to this Parquet file ('-': only the counts, to standard output).",
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

    Solves consecutive deal numbers. The counts of each full block of 10,000 numbers are stored in the data
    root, so running the same command again continues a study that was stopped.

    Example: fairway study winnability --rules golf --deals 100000 --fewest
    """
    study = Study(rules, fewest, first, deals)
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings, create=True)
    if output is not None:
        check_output(output)  # before hours of work
    try:
        with shown_progress(time_left=True) as progress:
            report = run_study(storage, study, settings, job_context(settings, progress))
    except (KeyboardInterrupt, SystemExit):
        note("stopped; finished blocks of 10,000 deals are stored, and the same command continues from them")
        raise
    for path in report.result.remade:
        note(f"{path} was damaged and has been counted again")
    if output is not None:
        _write_counts(output, report.result.blocks)
    if output == STANDARD:
        return
    found, reused = findings(joined(report.result.blocks)), report.result.reused
    if as_json:
        put_json(findings_document(found) | {"reused": reused, "seconds": report.seconds})
        return
    print_findings(found)
    others = "" if reused == deals else f"; counting the others took {report.seconds:.1f} s"
    say(f"\n{reused:,} of the deals were in stored counts{others}")


def chart(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Counts written by `study winnability -o`, for the same deal numbers.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Picture to write: PNG if the name ends in .png, else SVG.",
            show_default=False,
        ),
    ],
) -> None:
    """Chart the best scores found by studies.

    Draws one panel per file, all on the same axes. Needs the extra `plot`: pip install 'fairway[plot]'.

    Example: fairway study chart golf.parquet relaxed.parquet -o chart.svg
    """
    check_plotting()
    check_output(output, files)
    studies = [read_whole(content(file), str(file)) for file in files]
    with plotting():
        from pipeline.studies.charts import study_chart  # matplotlib is optional

        picture = study_chart(studies, "png" if output.suffix.lower() == ".png" else "svg")
    with sink(output) as stream:
        stream.write(picture)


def content(file: Path) -> bytes:
    """Return the content of a file that the user named."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error


def _write_counts(file: Path, blocks: tuple[Block, ...]) -> None:
    with sink(file) as stream:
        stream.write(blocks_bytes(blocks))
