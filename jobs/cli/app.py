"""The command `fairway`: its subcommands and how a run of it begins and ends."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from jobs.cli import config, daily, deal, pool, study
from jobs.cli.gc import gc
from jobs.cli.hint import hint
from jobs.cli.nightly import nightly
from jobs.cli.query import query
from jobs.cli.repair import repair
from jobs.cli.review import review
from jobs.cli.rounds import show_round
from jobs.cli.scorecard import scorecard
from jobs.cli.serve import serve
from jobs.cli.stats import stats
from jobs.cli.status import status
from jobs.cli.verify import verify
from jobs.terminal.context import version
from jobs.terminal.log import stop_log
from jobs.terminal.outcome import ended, stop_on_sigterm
from jobs.terminal.output import NAME, say

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_LAST_STREAM: Final = 2
_COMMENTS: Final = ("-- ", "--\n")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(nightly)
app.command()(serve)
app.command()(status)
app.add_typer(pool.app, name="pool")
app.command()(query)
app.add_typer(daily.app, name="daily")
app.add_typer(deal.app, name="deal")
app.command()(hint)
app.command()(review)
app.command("round")(show_round)
app.command()(scorecard)
app.command()(stats)
app.command()(verify)
app.command()(repair)
app.command()(gc)
app.add_typer(study.app, name="study")
app.add_typer(config.app, name="config")


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"{NAME} {version()}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Golf Solitaire deals that can be trusted: certified pools, and one Daily hole for each date.

    Example: fairway nightly
    """


def run(arguments: Sequence[str]) -> int:
    """Run the command with these arguments.

    Returns:
        Its exit code; see `jobs.terminal.outcome`.
    """
    command = typer.main.get_command(app)

    def invoke() -> object:
        with command.make_context(NAME, [_as_word(argument) for argument in arguments]) as context:
            return command.invoke(context)

    try:
        return ended(invoke)
    finally:
        stop_log()


def _as_word(argument: str) -> str:
    """An argument as it is meant: SQL that begins with a comment begins like an option, but is none."""
    return f" {argument}" if argument.startswith(_COMMENTS) else argument


def main() -> None:
    """The entry point: run the command with the arguments of this process, and exit."""
    stop_on_sigterm()
    _open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is shown escaped, instead of stopping the command.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # both are text files here
    sys.exit(run(sys.argv[1:]))


def _open_standard_streams() -> None:
    """Give the process the standard streams that it was started without.

    Nothing comes from them and nothing is kept of what goes there. Without them the next file that is opened
    would take their place, and what is printed would be written into it.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        name, mode = _STREAMS[handle]
        os.set_inheritable(handle, True)
        setattr(sys, name, os.fdopen(handle, mode, encoding="utf-8"))
    os.close(handle)
