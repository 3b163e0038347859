"""The benchmarks: `python -m tests.benchmarks`.

Compiled kernels are kept in a folder for this run only, unless FAIRWAY_CACHE names one, so that the processes
it starts compile nothing.
"""

import os
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import Final

from pipeline.deals.certify import warm_up
from tests.benchmarks.figures import Bench, Figure, Measure
from tests.benchmarks.runner import Streams, run
from tests.benchmarks.targets import TARGETS

SUBJECTS: Final = (
    "search",
    "command",
    "steady",
    "varied",
    "hints",
    "shuffle",
    "pipeline",
    "memory",
    "storing",
    "queries",
    "scale",
)


def main() -> int:
    """Run the command with the arguments of this process; return its exit code."""
    with tempfile.TemporaryDirectory(prefix="fairway-kernels-") as folder:
        os.environ.setdefault("FAIRWAY_CACHE", folder)
        subjects = {name: partial(_measured, name) for name in SUBJECTS}
        return run(sys.argv[1:], subjects, TARGETS, Streams(sys.stdout, sys.stderr))


def _measured(name: str, bench: Bench) -> Iterable[Figure]:
    warm_up()
    measure: Measure = import_module(f"tests.benchmarks.{name}").measure
    return measure(bench)


if __name__ == "__main__":
    sys.exit(main())
