"""Child processes whose standard error is part of the failure if they fail."""

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent


def run_child(*words: str | Path, text: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, from the root of the repository.

    Args:
        words: the program and its arguments.
        text: its standard input.

    Raises:
        subprocess.CalledProcessError: if the program fails; its standard error is a note on the exception.
    """
    try:
        return subprocess.run(words, cwd=ROOT, input=text, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as error:
        error.add_note(error.stderr)
        raise
