"""Commands whose modules are imported only when the command, or its own help, is called."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommand(TyperCommand):
    """A command that is listed by name and summary, and imported when it is called.

    Args:
        name: what the user types.
        place: where its function is, as `module:function`.
        summary: the first line of the function's docstring. A test compares the two.
    """

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._place = place

    def load(self) -> Any:
        """Import the command itself."""
        module, _, function = self._place.partition(":")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.name)(getattr(import_module(module), function))
        return typer.main.get_command(app)

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Return the context of the command itself, which is what then runs."""
        return self.load().make_context(*arguments, **extra)


def group(name: str, summary: str, example: str, *commands: LazyCommand) -> TyperGroup:
    """Group commands under one word.

    Args:
        name: what the user types.
        summary: the first line of its help.
        example: a command line to show in its help.
        commands: in the order in which its help lists them.
    """
    text = f"{summary}\n\nExample: {example}"
    return TyperGroup(name=name, help=text, commands=commands, rich_markup_mode=None)
