"""The yardstick, `plain_sweep.c`: a plain exact sweep in C, with which the fast search is compared.

`python -m tests.twins.yardstick > data/reference/yardstick_v1.csv` makes the reference data again.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pipeline.deals.shuffle import deal_numbered
from solver.table.deal import Deal
from solver.table.rules import RULES
from tests.support.command import run_child

SOURCE = Path(__file__).with_name("plain_sweep.c")
COUNT = 1000
COMMENT = (
    "# best score of each deal by shuffle v1 number as tests/twins/plain_sweep.c finds it, - where it"
    " cannot be cleared; made by python -m tests.twins.yardstick"
)


def compiler() -> str | None:
    """Return the C compiler of this machine; None if there is none."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build(folder: Path, *options: str) -> Path:
    """Compile the yardstick into a folder, with additional compiler options; return the program."""
    program, found = folder / "plain_sweep", compiler()
    if found is None:
        sys.exit("the yardstick needs a C compiler; install cc, gcc or clang")
    subprocess.run([found, "-O3", *options, "-o", program, SOURCE], check=True)
    return program


def best_scores(program: Path, rules: str, deals: Sequence[Deal]) -> list[str]:
    """Return the best score of each deal as text, or `-` if it cannot be cleared."""
    text = "".join(f"{deal.notation}\n" for deal in deals)
    run = run_child(program, rules, input=text, check=True)
    return run.stdout.splitlines()


def reference_data(program: Path) -> str:
    """Return the text of `yardstick_v1.csv`."""
    deals = [deal_numbered(number) for number in range(COUNT)]
    columns = [best_scores(program, rules, deals) for rules in RULES]
    rows = (",".join((str(number), *row)) for number, row in enumerate(zip(*columns, strict=True)))
    return "\n".join((COMMENT, f"deal_number,{','.join(RULES)}", *rows, ""))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.stdout.write(reference_data(build(Path(name))))
