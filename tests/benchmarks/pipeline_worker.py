"""A process that makes parts with one thread: `python -m tests.benchmarks.pipeline_worker LEVEL SIZE`.

Each line on standard input requests one part; the answer is the wall time in seconds. Two of these processes
share only the machine, so they show what two of its processors achieve.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pipeline.deals.certify import warm_up
from tests.benchmarks.children import ROOT

Worker = subprocess.Popen[str]


@contextmanager
def workers(count: int, level: str, size: int) -> Iterator[list[Worker]]:
    """Start so many of these processes, loaded and waiting; they end with the block."""
    program = (sys.executable, "-m", __spec__.name, level, str(size))
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(count)
        ]
        for worker in started:
            stack.callback(worker.kill)
        _answers(started)
        yield started


def made_at_once(asked: list[Worker]) -> float:
    """Return the seconds until each of these processes, started together, has made one part."""
    for worker in asked:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    return max(_answers(asked))


def _answers(asked: list[Worker]) -> list[float]:
    lines = []
    for worker in asked:
        assert worker.stdout is not None
        lines.append(worker.stdout.readline())
    return [float(line) for line in lines]


def main(level: str, size: int) -> None:
    """Load everything, report that with a first number, then make parts on request."""
    from tests.benchmarks.pipeline import made  # which imports this module

    warm_up()
    sys.stdout.write("0\n")
    sys.stdout.flush()
    for _ in sys.stdin:
        sys.stdout.write(f"{made(level, size, 1).wall}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
