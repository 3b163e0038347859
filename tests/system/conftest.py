"""Mark every test in this folder as `system`."""

from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the mark before pytest deselects by marks."""
    for item in items:
        if item.path.is_relative_to(_FOLDER):
            item.add_marker("system")
