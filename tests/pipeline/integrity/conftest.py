"""A sound data root for each test to damage."""

from pathlib import Path

import pytest

from pipeline.store.storage import LocalStorage
from tests.support.sound_root import sound_root


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """A copy of the sound data root."""
    return sound_root(tmp_path)
