"""`fairway verify`: check a data root without changing anything."""

from time import monotonic
from typing import Annotated, Any

import typer

from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json, Workers, number_option
from jobs.terminal.outcome import DONE, FAILED
from jobs.terminal.output import put_json, say
from jobs.terminal.progress import shown_progress
from jobs.watch.logs import message_line
from pipeline.deals.levels import MAX_DEALS
from pipeline.integrity.report import Check
from pipeline.integrity.verify import SAMPLE_SIZE
from pipeline.integrity.verify import verify as run_checks
from pipeline.work.executors import local_work
from solver.errors import UsageError


def verify(
    sample: Annotated[
        int | None,
        number_option(
            "--sample",
            "Deals per level to solve and rate again; 0 solves nothing. Default: 20.",
            least=0,
            most=MAX_DEALS,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Solve and rate every deal again.")] = False,
    data: Data = None,
    config: Config = None,
    workers: Workers = None,
    as_json: Json = False,
) -> int:
    """Check everything in a data root.

    Nothing is changed. The exit code is 1 if there are problems.

    Example: fairway verify --sample 100
    """
    if every and sample is not None:
        raise UsageError("--sample cannot be combined with --all; give one of them")
    settings = read_settings(config, data=data, workers=workers)
    storage = storage_at(settings)
    size = None if every else SAMPLE_SIZE if sample is None else sample
    with shown_progress() as progress, local_work(settings.workers, progress) as work:
        results = run_checks(storage, settings.daily_key, size, work, monotonic, storage.irregular_paths)
    passed = all(result.is_passed for result in results)
    if as_json:
        put_json({"passed": passed, "checks": [_document(result) for result in results]})
    else:
        _print(results)
    return DONE if passed else FAILED


def _document(result: Check) -> dict[str, Any]:
    return {
        "name": result.name,
        "passed": result.is_passed,
        "checked": result.checked,
        "unit": result.unit,
        "problems": [{"file": found.file, "what": found.what} for found in result.problems],
        "notes": [{"file": found.file, "what": found.what} for found in result.notes],
        "seconds": round(result.seconds, 3),
    }


def _print(results: tuple[Check, ...]) -> None:
    width = max((len(result.name) for result in results), default=0)
    for result in results:
        verdict = "ok  " if result.is_passed else "FAIL"
        say(f"{verdict}  {result.name:<{width}}  {result.checked:>7,} {result.unit}, {result.seconds:.2f} s")
        for problem in result.problems:
            say(f"      problem: {message_line(str(problem))}")
        for found in result.notes:
            say(f"      note: {message_line(str(found))}")
    problems = sum(len(result.problems) for result in results)
    say(f"\nproblems: {problems:,}; run `fairway repair`" if problems else "\nno problems found")
