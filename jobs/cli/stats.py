"""`fairway stats`: statistics of a player's results, and how players compare with par."""

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from jobs.api.reading import lines_of
from jobs.api.results import parse_result, results_document
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.files import check_output, check_readable, opened, sink
from jobs.terminal.options import Config, Data, Json, Workers
from jobs.terminal.output import put_json, say
from jobs.terminal.plotting import check_plotting, plotting
from jobs.terminal.progress import shown_progress
from jobs.terminal.tables import put_table
from pipeline.play.player import PlayedRound, PlayerPage, Streak, played_rounds, player_page
from pipeline.play.results import Played, Result, checked
from pipeline.pools.catalog import load_catalog
from pipeline.store.storage import Storage
from pipeline.studies.calibration import Calibration, calibrations
from pipeline.studies.statistics import Mean
from pipeline.work.executors import local_work
from pipeline.work.progress import Progress
from solver.errors import UsageError

_FORMATS: Final[dict[str, Literal["svg", "png"]]] = {".svg": "svg", ".png": "png"}
_PERCENT: Final = 100
_NONE: Final = "-"

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Results, one JSON object per line ('-' for standard input).",
        show_default=False,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Also draw a chart of players and the steady player to this .svg or .png file.",
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

    Prints a player's holes, rounds, averages, records and streaks, and compares players with par and with
    the steady player. Each line is an object such as
    {"deal": 617, "rules": "golf", "line": "D623", "seconds": 95}; it may have a "date" instead of the deal,
    and a "score" instead of the line.

    Example: fairway stats results.jsonl -o players.svg
    """
    settings = read_settings(config, data=data, workers=workers)
    check_readable(files)
    if output is not None:
        if output.suffix.lower() not in _FORMATS:
            raise UsageError(f"{output} does not end in .svg or .png; the ending chooses the format")
        check_output(output, files)
        check_plotting()
    storage = storage_at(settings)
    results = _read_results(files, storage, settings.workers)
    page = player_page(results, played_rounds(results, storage, load_catalog(storage)))
    rows = calibrations(results)
    if output is not None:
        _draw(output, rows)
    if as_json:
        put_json(results_document(page, rows))
    else:
        _print(page, rows)


def _read_results(files: Sequence[Path], storage: Storage, workers: int) -> list[Played]:
    """Read and check the results of all files, in order.

    Raises:
        UsageError: a file cannot be read, or a line is not a possible result.
        CheckError: the Daily hole of a date is not published.
        DamagedError: a Daily hole is damaged.
    """
    with (
        shown_progress() as progress,
        local_work(workers) as work,
        closing(_parsed(files, progress)) as results,
    ):
        return list(checked(results, storage, work))


def _parsed(files: Sequence[Path], progress: Progress) -> Generator[Result, None, None]:
    for file in files:
        with opened(file) as (stream, name, total):
            for line in lines_of(stream, name, "result"):
                progress.update(name, line.number, total)
                yield parse_result(line, name)
            if total:
                progress.update(name, total, total)


def _draw(output: Path, rows: tuple[Calibration, ...]) -> None:
    if not rows:
        raise UsageError("there are no results to draw")
    with plotting():
        from pipeline.studies.charts import calibration_chart  # matplotlib is optional

        picture = calibration_chart(rows, _FORMATS[output.suffix.lower()])
    with sink(output) as stream:
        stream.write(picture)


def _print(page: PlayerPage, rows: Sequence[Calibration]) -> None:
    for name, text in _page_lines(page):
        say(f"{name:<17}{text}")
    if page.holes:
        say()
        _print_pars(page)
        say("\nMean scores of players and of the steady player on the same holes:\n")
        _print_means(rows)
        say("\nShare of results at par or better:\n")
        _print_shares(rows)


def _page_lines(page: PlayerPage) -> list[tuple[str, str]]:
    return [
        ("holes played", f"{page.holes:,}, {page.cleared:,} of them cleared"),
        ("rounds played", f"{page.rounds:,}, {page.rounds_won:,} of them won"),
        ("best round", _round_text(page.best_round)),
        ("against par", f"{page.overall.against_par:+.2f} on average" if page.overall else _NONE),
        ("longest run", _NONE if page.longest_run is None else f"{page.longest_run}"),
        ("best time", _NONE if page.best_seconds is None else f"{page.best_seconds:,.10g} s"),
        ("fewest moves", _NONE if page.fewest_moves is None else f"{page.fewest_moves}"),
        ("dailies played", _streak_text(page.dailies)),
        ("dailies cleared", _streak_text(page.dailies_cleared)),
    ]


def _round_text(played: PlayedRound | None) -> str:
    if played is None:
        return _NONE
    return f"{played.score}, par {played.par}: {played.level}, round {played.round}"


def _streak_text(streak: Streak) -> str:
    if streak.last_date is None:
        return "0 dates"
    dates = "1 date" if streak.dates == 1 else f"{streak.dates:,} dates"
    return f"{dates}; longest streak {streak.longest:,}, latest {streak.last:,} (to {streak.last_date})"


def _print_pars(page: PlayerPage) -> None:
    put_table(
        [("par", True), ("holes", True), ("against par", True)],
        [
            (f"{par}", f"{average.holes:,}", f"{average.against_par:+.2f}")
            for par, average in page.by_par.items()
        ],
    )


def _print_means(rows: Sequence[Calibration]) -> None:
    numbers = ("par", "results", "players", "steady", "difference (95 %)")
    put_table(
        [
            ("level", False),
            *((heading, True) for heading in numbers),
            ("verdict", False),
            ("players' par", True),
        ],
        [
            (
                *_group(row),
                f"{row.score.value:.2f}",
                f"{row.steady_mean:.2f}",
                _difference(row.apart),
                f"{row.verdict}",
                f"{row.players_par}",
            )
            for row in rows
        ],
    )


def _print_shares(rows: Sequence[Calibration]) -> None:
    put_table(
        [("level", False), *((heading, True) for heading in ("par", "results", "players (95 %)", "steady"))],
        [(*_group(row), _share_at_par(row), _share(row.steady_at_par)) for row in rows],
    )


def _group(row: Calibration) -> tuple[str, str, str]:
    return row.level, f"{row.par}", f"{row.score.size:,}"


def _difference(mean: Mean) -> str:
    if mean.spread is None:
        return f"{mean.value:+.2f}"
    return f"{mean.value:+.2f} ({mean.spread.interval.low:+.2f} to {mean.spread.interval.high:+.2f})"


def _share_at_par(row: Calibration) -> str:
    interval = row.at_par_interval
    return f"{_share(row.at_par.share)} ({_share(interval.low)} to {_share(interval.high)})"


def _share(share: float) -> str:
    return f"{share * _PERCENT:.1f} %"
