"""The command: its options, the table, the JSON and the exit code."""

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from tests.benchmarks import report
from tests.benchmarks.circumstances import IDLE, circumstances
from tests.benchmarks.figures import Bench, Figure, Judgement, Measure, Targets, judged, unique

MET: Final = 0
FAILED: Final = 1


@dataclass(frozen=True, slots=True)
class Streams:
    """Output streams: one for the table, one for progress."""

    out: TextIO
    err: TextIO


def run(
    arguments: Sequence[str],
    subjects: Mapping[str, Measure],
    targets: Targets,
    streams: Streams,
    about: Callable[[], dict[str, Any]] = circumstances,
) -> int:
    """Measure, report and judge.

    Args:
        arguments: the command line.
        subjects: all subjects by name.
        targets: limits by subject and name of the figure.
        streams: where to write.
        about: returns what the figures depend on.

    Returns:
        `FAILED` if a `must` was not reached or, except in a quick run, was not measured; else `MET`.
    """
    options = _parse(arguments, tuple(subjects))
    facts = about()
    if facts["load"] > IDLE:
        streams.err.write(f"this machine is busy (load {facts['load']:.2f}): do not quote these figures\n")
    found: dict[str, list[Figure]] = {}
    with tempfile.TemporaryDirectory(prefix="fairway-benchmarks-") as name:
        bench = _bench(options, Path(name), lambda line: _report(streams.err, line))
        for subject in dict.fromkeys(options.only):
            found[subject] = list(unique(subject, subjects[subject](bench)))
            streams.out.write(f"{report.table(subject, found[subject], targets)}\n")
            streams.out.flush()
    judgement = judged(found, targets)
    streams.out.write(report.failures(judgement, found, targets))
    if options.json is not None:
        sizes = {"quick": options.quick, "deals": bench.deals, "rounds": bench.rounds}
        written = report.document(found, targets, judgement, facts | sizes)
        options.json.write_text(f"{json.dumps(written, indent=1)}\n", "ascii")
    return _exit_code(judgement, quick=options.quick)


def _exit_code(judgement: Judgement, *, quick: bool) -> int:
    return FAILED if judgement.failed or (judgement.missing and not quick) else MET


def _parse(arguments: Sequence[str], subjects: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks", description="See tests/benchmarks/README.md."
    )
    parser.add_argument("--quick", action="store_true", help="measure a small sample to see that it works")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each thing is measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to FILE")
    parser.add_argument(
        "--only", nargs="+", choices=subjects, default=subjects, metavar="NAME", help=", ".join(subjects)
    )
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: at least 1")
    if options.json is not None and not options.json.absolute().parent.is_dir():
        parser.error(f"--json {options.json}: the folder does not exist")
    if options.json is not None and (str(options.json) == "-" or options.json.is_dir()):
        parser.error(f"--json {options.json}: name a file")
    return options


def _bench(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Bench:
    if options.quick:
        return Bench(
            deals=200,
            rounds=options.rounds or 2,
            certified=100,
            sampled=50,
            pool_rows=(10_000,),
            folder=folder,
            report=progress,
        )
    return Bench(
        deals=2_000,
        rounds=options.rounds or 5,
        certified=1_000,
        sampled=500,
        pool_rows=(10_000, 1_000_000),
        folder=folder,
        report=progress,
    )


def _report(stream: TextIO, line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()
