"""Tables and styled text for people, printed with rich on standard output."""

import sys
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.terminal.output import shown_text

_UNLIMITED_WIDTH: Final = 100_000


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would exit by itself, with the code of a failed check


def console() -> Console:
    """Return standard output as a console: colours only on a terminal, and lines folded only there."""
    width = None if sys.stdout.isatty() else _UNLIMITED_WIDTH
    return _Console(width=width, highlight=False, markup=False, emoji=False)


def put_table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> None:
    """Print a table.

    Args:
        columns: the headings, each with whether its column holds numbers, which are aligned right.
        rows: one text per column.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, is_number in columns:
        side: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(Text(shown_text(heading)), justify=side, overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(shown_text(cell)) for cell in row))
    console().print(table)
