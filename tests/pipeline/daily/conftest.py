"""A data root for each test to publish into."""

from pathlib import Path

import pytest

from pipeline.daily import publish
from tests.support.publishing import Site, made_before, site_in


@pytest.fixture(autouse=True)
def holes_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each hole once per process."""
    monkeypatch.setattr(publish, "make_daily", made_before)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An empty data root."""
    return site_in(tmp_path / "site")
