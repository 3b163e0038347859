"""The commands, one file per subject: read arguments, call other wings, print. May import every wing."""

from typing import Final

__all__ = ["main"]

_INTERRUPTED: Final = 130  # 128 and the number of SIGINT, as in shells


def main() -> None:
    """Run the command with the arguments of this process, and exit."""
    try:
        from jobs.cli.app import main as run  # here, so that Ctrl-C while it loads ends as it does later
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
    run()
