"""A process that makes parts by one thread: `python -m tests.benchmarks.pipeline_worker LEVEL SIZE`.

Each line on standard input asks for one part; the answer is the seconds that it took, on the wall clock. Two
of these at once share nothing but the machine, so they show what two processors of it are worth.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.benchmarks.command import ROOT

Worker = subprocess.Popen[str]


@contextmanager
def workers(count: int, level: str, size: int) -> Iterator[list[Worker]]:
    """So many of these processes, loaded and waiting; they end with the block."""
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
    """Seconds until each of these processes has made one part, begun at the same time."""
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
    """Load everything, say so with a first number, then make parts as they are asked for."""
    from pipeline.deals.certify import warm_up
    from tests.benchmarks.pipeline import made

    warm_up()
    sys.stdout.write("0\n")
    sys.stdout.flush()
    for _ in sys.stdin:
        sys.stdout.write(f"{made(level, size, 1).wall}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
