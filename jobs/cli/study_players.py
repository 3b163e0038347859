"""`fairway study players` and `players-chart`: what the simulated players say of the same deals."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jobs.cli.study import FirstNumber, StudyRules, content
from jobs.runs.others import run_players_study
from jobs.terminal.context import job_context, read_settings
from jobs.terminal.files import STANDARD, check_output, sink
from jobs.terminal.options import Config, Data, Json, Workers, number_option
from jobs.terminal.output import note, put_json, say
from jobs.terminal.plotting import check_plotting, plotting
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table
from pipeline.studies.players import DIFFICULTIES, MAX_PLAYED_NUMBERS, MEAN_RANGES, PlayersFindings
from pipeline.studies.study_schema import players_bytes, read_players
from pipeline.studies.winnability import Study
from pipeline.versions import PLAYERS_STUDY_VERSIONS
from solver.players.difficulty import DIFFICULTY_NAMES

_PERCENT: Final = 100


def players(
    rules: StudyRules,
    deals: Annotated[int, number_option("--deals", "Number of deals.", least=1, most=MAX_PLAYED_NUMBERS)],
    first: FirstNumber = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write the tables to this Parquet file ('-': only that, to standard output).",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Compare the simulated players.

    Takes those of consecutive deal numbers that can be cleared, and shows the rank correlations of what the
    players and the search say of them, and how many have each difficulty. Nothing is stored in the data root:
    a study that was stopped starts again.

    Example: fairway study players --rules golf --deals 1000
    """
    study = Study(rules, fewest=False, first=first, count=deals)
    settings = read_settings(config, data=data, workers=workers)
    if output is not None:
        check_output(output)  # before minutes of work
    try:
        with shown_progress(time_left=True) as progress:
            report = run_players_study(study, settings, job_context(settings, progress))
    except (KeyboardInterrupt, SystemExit):
        note("stopped; nothing was stored")
        raise
    if output is not None:
        with sink(output) as stream:
            stream.write(players_bytes(report.found))
    if output == STANDARD:
        return
    if as_json:
        put_json(_document(report.found) | {"seconds": report.seconds})
        return
    _print(report.found)
    say(f"\nrating them took {report.seconds:.1f} s")


def players_chart(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Tables written by `study players -o`, for the same deal numbers.",
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
    """Chart the steady mean against the clear chance.

    Draws one panel per file: how many cards the steady player leaves, and how many tries a clear takes the
    varied player. Needs the extra `plot`: pip install 'fairway[plot]'.

    Example: fairway study players-chart golf.parquet relaxed.parquet -o players.svg
    """
    check_plotting()
    check_output(output, files)
    studies = [read_players(content(file), str(file)) for file in files]
    with plotting():
        from pipeline.studies.charts import players_chart as chart  # matplotlib is optional

        picture = chart(studies, "png" if output.suffix.lower() == ".png" else "svg")
    with sink(output) as stream:
        stream.write(picture)


def _document(found: PlayersFindings) -> dict[str, Any]:
    """Return the findings as a JSON document; a correlation is null if a measure is always the same."""
    bounds = MEAN_RANGES.get(found.study.rules)
    level = None
    if bounds is not None:
        level = {
            "level": bounds.level,
            "mean_from": None if bounds.low is None else float(bounds.low),
            "mean_below": None if bounds.below is None else float(bounds.below),
            "deals": sum(found.level_difficulties),
            "difficulties": _counts(found.level_difficulties),
        }
    return {
        "study": "players",
        "rules": found.study.rules,
        "first": found.study.first,
        "deals": found.study.count,
        "cleared": found.cleared,
        "correlations": [
            {"measures": [one, other], "spearman": found.correlation(one, other)}
            for at, one in enumerate(found.measures)
            for other in found.measures[at + 1 :]
        ],
        "difficulties": _counts(found.difficulties),
        "level": level,
        "versions": dict(PLAYERS_STUDY_VERSIONS),
    }


def _counts(counts: tuple[int, ...]) -> list[dict[str, Any]]:
    whole = sum(counts)
    return [
        {"difficulty": difficulty, "deals": count, "share": count / whole if whole else None}
        for difficulty, count in zip(DIFFICULTIES, counts, strict=True)
    ]


def _print(found: PlayersFindings) -> None:
    study = found.study
    say(f"{study.count:,} deals under {study.rules}, numbers {study.first} to {study.last}")
    say(f"{found.cleared:,} can be cleared; the tables are about these\n")
    say("Spearman's rank correlation")
    names = [name.replace("_", " ") for name in found.measures]
    put_table(
        [("", False), *((name, True) for name in names)],
        [
            (name, *("-" if value is None else f"{value:+.3f}" for value in row))
            for name, row in zip(names, found.correlations, strict=True)
        ],
    )
    say("\ndifficulty")
    columns = [(f"all {study.rules}", found.difficulties)]
    if found.level:
        columns.append((f"steady mean of {found.level}", found.level_difficulties))
    put_table(
        [("difficulty", False), *((f"{title}", True) for name, _ in columns for title in (name, "share"))],
        [
            (
                f"{difficulty} {DIFFICULTY_NAMES[difficulty]}",
                *(text for _, counts in columns for text in _cells(counts, at)),
            )
            for at, difficulty in enumerate(DIFFICULTIES)
        ],
    )


def _cells(counts: tuple[int, ...], at: int) -> tuple[str, str]:
    whole = sum(counts)
    return f"{counts[at]:,}", f"{_PERCENT * counts[at] / whole:.1f} %" if whole else "-"
