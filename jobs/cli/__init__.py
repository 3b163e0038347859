"""The command line: the only place that reads arguments, prints, and knows what time it is."""

from typing import Final

__all__ = ["main"]

_INTERRUPTED: Final = 130  # 128 and the number of SIGINT, as shells have it


def main() -> None:
    """The entry point: run the command with the arguments of this process, and exit."""
    try:
        from jobs.cli.app import main as run
    except KeyboardInterrupt:  # it takes a moment to load, in which somebody may have thought again
        raise SystemExit(_INTERRUPTED) from None
    run()
