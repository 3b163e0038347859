"""The command `fairway`: its subcommands and how a run of it begins and ends."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from jobs.cli import config, daily, deal, pool, study
from jobs.cli.context import version
from jobs.cli.gc import gc
from jobs.cli.logs import stop_log
from jobs.cli.nightly import nightly
from jobs.cli.outcome import ended, stop_on_sigterm
from jobs.cli.output import say
from jobs.cli.query import query
from jobs.cli.repair import repair
from jobs.cli.serve import serve
from jobs.cli.status import status
from jobs.cli.verify import verify

NAME = "fairway"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(nightly)
app.command()(serve)
app.command()(status)
app.add_typer(pool.app, name="pool")
app.command()(query)
app.add_typer(daily.app, name="daily")
app.add_typer(deal.app, name="deal")
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
        Its exit code; see `jobs.cli.outcome`.
    """
    command = typer.main.get_command(app)

    def invoke() -> object:
        with command.make_context(NAME, list(arguments)) as context:
            return command.invoke(context)

    try:
        return ended(invoke)
    finally:
        stop_log()


def main() -> None:
    """The entry point: run the command with the arguments of this process, and exit."""
    stop_on_sigterm()
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is shown escaped, instead of stopping the command.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # both are text files here
    sys.exit(run(sys.argv[1:]))
