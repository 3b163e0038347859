"""The command `fairway`: the table of its commands, and how a process that runs one begins and ends."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from typer.core import TyperGroup

from jobs.cli.lazy import LazyCommand, group
from jobs.terminal.log import stop_log
from jobs.terminal.outcome import ended, stop_on_sigterm
from jobs.terminal.output import NAME, say, version

_STREAMS: Final = (
    ("stdin", "r", os.O_RDONLY),
    ("stdout", "w", os.O_RDONLY),
    ("stderr", "w", os.O_WRONLY),
)
_COMMENTS: Final = ("-- ", "--\n")

# In the order in which help lists them.
_COMMANDS: Final = (
    LazyCommand("nightly", "jobs.cli.nightly:nightly", "Add a night's deals and publish Daily holes."),
    LazyCommand("serve", "jobs.cli.serve:serve", "Run every night on schedule until stopped."),
    LazyCommand("status", "jobs.cli.status:status", "Show the health of a data root."),
    group(
        "pool",
        "Inspect and change the pools.",
        "fairway pool status",
        LazyCommand(
            "status", "jobs.cli.pool:status", "Show the size, pars, progress and policy of each pool."
        ),
        LazyCommand("show", "jobs.cli.pool_deals:show", "List the first deals of a level."),
        LazyCommand("preview", "jobs.cli.preview:show_preview", "Preview what a level would admit."),
        LazyCommand("regenerate", "jobs.cli.regenerate:regenerate", "Regenerate a level's pool."),
        LazyCommand("export", "jobs.cli.pool_deals:export", "Export a level's pool for game clients."),
        LazyCommand("history", "jobs.cli.pool:history", "Show the history of a level's pool."),
        LazyCommand("diff", "jobs.cli.pool_diff:diff", "Compare two generations of a level."),
        LazyCommand("rollback", "jobs.cli.pool_change:rollback", "Return to an earlier generation."),
        LazyCommand("compact", "jobs.cli.pool_change:compact", "Merge a level's small parts."),
    ),
    group(
        "level",
        "Show the levels and their policies.",
        "fairway level list",
        LazyCommand("list", "jobs.cli.level:list_levels", "List the levels and their policies."),
        LazyCommand("show", "jobs.cli.level:show", "Show the policy of a level."),
    ),
    group(
        "daily",
        "Show and publish Daily holes.",
        "fairway daily show",
        LazyCommand("show", "jobs.cli.daily:show", "Draw a published Daily hole."),
        LazyCommand("export", "jobs.cli.daily:export", "Print the file of a published Daily hole."),
        LazyCommand("publish", "jobs.cli.publish:publish", "Publish the Daily holes of a range of dates."),
    ),
    LazyCommand("query", "jobs.cli.query:query", "Run a read-only SQL query."),
    group(
        "deal",
        "Show, solve and rate deals.",
        "fairway deal show 1",
        LazyCommand("show", "jobs.cli.deal:show", "Draw the table of a deal."),
        LazyCommand("solve", "jobs.cli.solve:solve", "Find the best score and a line that reaches it."),
        LazyCommand("rate", "jobs.cli.solve:rate", "Rate a deal with the simulated players."),
    ),
    LazyCommand("hint", "jobs.cli.hint:hint", "Show the best move from a position, and why."),
    LazyCommand("review", "jobs.cli.hint:review", "Review a hole move by move."),
    LazyCommand("round", "jobs.cli.rounds:show_round", "List the nine deals of a round."),
    LazyCommand("scorecard", "jobs.cli.rounds:scorecard", "Show the scorecard of a round."),
    LazyCommand("stats", "jobs.cli.stats:stats", "Summarise results."),
    LazyCommand("verify", "jobs.cli.verify:verify", "Check everything in a data root."),
    LazyCommand("repair", "jobs.cli.repair:repair", "Restore damaged or missing files."),
    LazyCommand("gc", "jobs.cli.gc:gc", "Remove files that are no longer needed."),
    group(
        "study",
        "Study many deals.",
        "fairway study winnability --rules golf --deals 10000",
        LazyCommand("winnability", "jobs.cli.study:winnability", "Count the deals that can be cleared."),
        LazyCommand("chart", "jobs.cli.study:chart", "Chart the best scores found by studies."),
        LazyCommand("players", "jobs.cli.study_players:players", "Compare the simulated players."),
        LazyCommand(
            "players-chart",
            "jobs.cli.study_players:players_chart",
            "Chart the steady mean against the clear chance.",
        ),
    ),
    group(
        "config",
        "Show and check the settings.",
        "fairway config show",
        LazyCommand("show", "jobs.cli.config:show", "Show the settings in force and their sources."),
        LazyCommand("check", "jobs.cli.config:check", "Check a settings file."),
    ),
)

_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"{NAME} {version()}")
        raise typer.Exit


@_app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Certified Golf Solitaire deals: a pool per level, and one Daily hole per date.

    Example: fairway nightly
    """


def command() -> TyperGroup:
    """Return the command itself, with all commands below it; none of them is imported yet."""
    root = typer.main.get_group(_app)
    for each in _COMMANDS:
        root.add_command(each)
    return root


def run(arguments: Sequence[str]) -> int:
    """Run the command with these arguments.

    Returns:
        Its exit code; see `jobs.terminal.outcome`.
    """

    def invoke() -> object:
        with command().make_context(NAME, [_quoted(argument) for argument in arguments]) as context:
            return context.command.invoke(context)

    try:
        return ended(invoke)
    finally:
        stop_log()


def _quoted(argument: str) -> str:
    """Return an argument in a form that is not taken for an option: SQL may begin with a comment."""
    return f" {argument}" if argument.startswith(_COMMENTS) else argument


def main() -> None:
    """Run the command with the arguments of this process, and exit."""
    stop_on_sigterm()
    _open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks are shown escaped instead of stopping the command.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # both are text files here
    sys.exit(run(sys.argv[1:]))


def _open_standard_streams() -> None:
    """Open the null device for each standard stream that the process was started without.

    Otherwise the next file opened would get the stream's descriptor, and output would be written into it.
    Standard output is opened for reading only: what a command prints must not be lost silently.
    """
    for number, (name, mode, flags) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest free number, which is this one
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))
