"""The command: which subjects, how much of each, the table, the JSON and the exit code."""

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
    """Where it goes: the table on one, how far the work is on the other."""

    out: TextIO
    err: TextIO


def run(
    arguments: Sequence[str],
    subjects: Mapping[str, Measure],
    targets: Targets,
    streams: Streams,
    about: Callable[[], dict[str, Any]] = circumstances,
) -> int:
    """Measure, tell and judge.

    Args:
        arguments: of the command line.
        subjects: all there are, by name.
        targets: by subject and name of the figure.
        streams: where to tell.
        about: what the figures depend on.

    Returns:
        `FAILED` when a must was not reached or, unless it was a quick run, not even measured; else `MET`.
    """
    asked = _parse(arguments, tuple(subjects))
    facts = about()
    if facts["load"] > IDLE:
        streams.err.write(f"this machine is busy (load {facts['load']:.2f}): do not quote these figures\n")
    found: dict[str, list[Figure]] = {}
    with tempfile.TemporaryDirectory(prefix="fairway-benchmarks-") as name:
        bench = _bench(asked, Path(name), lambda line: _tell(streams.err, line))
        for subject in dict.fromkeys(asked.only):
            found[subject] = list(unique(subject, subjects[subject](bench)))
            streams.out.write(f"{report.table(subject, found[subject], targets)}\n")
            streams.out.flush()
    judgement = judged(found, targets)
    streams.out.write(report.told(judgement, found, targets))
    if asked.json is not None:
        sizes = {"quick": asked.quick, "deals": bench.deals, "rounds": bench.rounds}
        written = report.document(found, targets, judgement, facts | sizes)
        asked.json.write_text(f"{json.dumps(written, indent=1)}\n", "ascii")
    return _exit_code(judgement, quick=asked.quick)


def _exit_code(judgement: Judgement, *, quick: bool) -> int:
    return FAILED if judgement.failed or (judgement.missing and not quick) else MET


def _parse(arguments: Sequence[str], subjects: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks", description="See tests/benchmarks/README.md."
    )
    parser.add_argument("--quick", action="store_true", help="a small sample: to see that it works")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each thing is measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    parser.add_argument(
        "--only", nargs="+", choices=subjects, default=subjects, metavar="NAME", help=", ".join(subjects)
    )
    asked = parser.parse_args(arguments)
    if asked.rounds is not None and asked.rounds < 1:
        parser.error(f"--rounds {asked.rounds}: at least 1")
    if asked.json is not None and not asked.json.absolute().parent.is_dir():
        parser.error(f"--json {asked.json}: there is no folder to write it to")
    if asked.json is not None and (str(asked.json) == "-" or asked.json.is_dir()):
        parser.error(f"--json {asked.json}: name a file")
    return asked


def _bench(asked: argparse.Namespace, folder: Path, tell: Callable[[str], None]) -> Bench:
    if asked.quick:
        return Bench(
            deals=200,
            rounds=asked.rounds or 2,
            certified=100,
            sampled=50,
            pool_rows=(10_000,),
            folder=folder,
            tell=tell,
        )
    return Bench(
        deals=2_000,
        rounds=asked.rounds or 5,
        certified=1_000,
        sampled=500,
        pool_rows=(10_000, 1_000_000),
        folder=folder,
        tell=tell,
    )


def _tell(stream: TextIO, line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()
