"""`python -m tests.benchmarks`: loads the kernels as the command itself would, then measures.

Compiled kernels are kept in a folder of this run alone, unless FAIRWAY_CACHE names one; so the processes that
it starts compile nothing, and nothing of an earlier run counts.
"""

import os
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import Final

from tests.benchmarks.figures import Bench, Figure, Measure
from tests.benchmarks.runner import Streams, run
from tests.benchmarks.targets import TARGETS

SUBJECTS: Final = (
    "search",
    "command",
    "steady",
    "hints",
    "shuffle",
    "pipeline",
    "memory",
    "storing",
    "queries",
    "scale",
)


def main() -> int:
    """Run the command with the arguments of this process; its exit code."""
    with tempfile.TemporaryDirectory(prefix="fairway-kernels-") as folder:
        os.environ.setdefault("FAIRWAY_CACHE", folder)
        subjects = {name: partial(_measured, name) for name in SUBJECTS}
        return run(sys.argv[1:], subjects, TARGETS, Streams(sys.stdout, sys.stderr))


def _measured(name: str, bench: Bench) -> Iterable[Figure]:
    from pipeline.deals.certify import warm_up  # it defines kernels, so not before their place is known

    warm_up()
    measure: Measure = import_module(f"tests.benchmarks.{name}").measure
    return measure(bench)


if __name__ == "__main__":
    sys.exit(main())
