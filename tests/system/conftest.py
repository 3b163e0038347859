"""Mark every test in this folder as `system`; provide the process that runs interrupted commands."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scenarios import Baselines
from tests.support.victim import Victim

_FOLDER = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the mark before pytest deselects by marks."""
    for item in items:
        if item.path.is_relative_to(_FOLDER):
            item.add_marker("system")


@pytest.fixture(scope="session")
def victim() -> Iterator[Victim]:
    """Return a process whose commands can be stopped at any step."""
    with Victim() as process:
        yield process


@pytest.fixture(scope="session")
def baselines(victim: Victim, tmp_path_factory: pytest.TempPathFactory) -> Baselines:
    """Return the scenarios' undisturbed results; tests copy their data roots."""
    return Baselines(victim, tmp_path_factory.mktemp("baselines"))
