"""The pages of the project and what they contain: commands, examples with output, links and tables."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from jobs.cli.app import command as command_line
from jobs.terminal.output import NAME
from tests.support.command import ROOT, commands, loaded

PAGES: Final = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in (
        *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "data/README.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *(ROOT / "jobs" / "deploy" / "README.md", ROOT / "tests" / "benchmarks" / "README.md"),
    )
}

_PROGRAM: Final = "/opt/fairway/bin/fairway"
# What may precede the command on a line, and what ends it.
_BEFORE: Final = re.compile(
    rf"^(?:[-\d* ]+fairway +)?(?:ExecStart=)?(?:.*?&& )?(?:sudo -u fairway )?(?:{_PROGRAM}|(?:\$ )?fairway) "
)
_AFTER: Final = {"|", "2>&1", "&&", ";"}
_ELLIPSIS: Final = "..."


@dataclass(frozen=True, slots=True)
class Example:
    """A command on a page with its output.

    Attributes:
        words: of the command, without its name.
        shown: lines of its output; `...` stands for any number of lines.
    """

    words: tuple[str, ...]
    shown: tuple[str, ...]

    def differs_from(self, printed: str) -> str | None:
        """Return the first line shown that is not printed where it should be; None if there is none."""
        rest = iter([line.rstrip() for line in printed.splitlines()])
        is_free = False
        for line in self.shown:
            if line == _ELLIPSIS:
                is_free = True
            elif is_free:
                if line not in rest:  # consumes the iterator up to the line
                    return line
                is_free = False
            elif next(rest, None) != line:
                return line
        return None


def examples_in(text: str) -> Iterator[Example]:
    """Yield every `$ fairway ..` of a page, with the output shown below it."""
    for block in blocks_in(text, ""):
        command, *shown = block.splitlines()
        if command.startswith(f"$ {NAME} "):
            yield Example(tuple(shlex.split(command)[2:]), tuple(line.rstrip() for line in shown))


def blocks_in(text: str, language: str) -> list[str]:
    """Return the fenced code blocks of a page in a language."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [block for _, name, block in found if name == language]


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield each `fairway ..` in a text: on its own line, as inline code, or as a list in a Dockerfile."""
    prose = re.sub(r"^ *```.*?```$", "", text, flags=re.MULTILINE | re.DOTALL)
    pieces = [*text.splitlines(), *(" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))]
    for piece in (piece.strip().lstrip("# ") for piece in pieces):
        if before := _BEFORE.match(piece):
            yield list(takewhile(lambda word: word not in _AFTER, shlex.split(piece[before.end() :])))
    for line in text.splitlines():
        if line.startswith("CMD "):
            yield json.loads(line.removeprefix("CMD "))
        elif line.startswith("HEALTHCHECK "):
            yield json.loads(line.partition(" CMD ")[2])[1:]


def unknown_in(words: list[str]) -> list[str]:
    """Return the words of a command line, without the program's name, that are not a command or an option."""
    command: Any = command_line()
    rest = list(words)
    while rest and hasattr(command, "commands") and not rest[0].startswith("-"):
        word = rest.pop(0)
        command = command.commands.get(word)
        if command is None:
            return [word]
    parameters = loaded(command).params
    options = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
    named = [word.partition("=")[0] for word in rest if re.match(r"-[^\d]", word)]
    return [name for name in named if name not in options | {"--help"}]


def command_names() -> Iterator[str]:
    """Yield the full name of every command that is not a group."""
    return (name for name, each in commands() if not hasattr(each, "commands"))


def links_in(text: str) -> list[str]:
    """Return the targets of links and pictures of a page that are in the repository."""
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


def anchors_in(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows_in(text: str) -> list[list[str]]:
    """Return the cells of every row of every table of a page; an escaped bar does not separate cells."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def page(name: str) -> str:
    """Return the text of a page, by its path in the repository."""
    return PAGES[Path(name).as_posix()]
