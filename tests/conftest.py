"""What all tests share: a folder for compiled kernels, a clean environment, and a small data root.

Compiled kernels are kept in a folder for tests only, `fairway-tests-<user id>` among the temporary files, so
that neither the processes that tests start nor a second run of the tests has to compile. The developer's home
and cache are not used: HOME is an empty folder. The tests' own folders are in memory if there is room,
because they make some ten thousand small files and sync them.
"""

import os
import signal
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

from jobs.settings.load import environment
from jobs.settings.sources import PREFIX
from jobs.terminal import clock
from pipeline.deals.certify import warm_up
from solver.jit import is_interpreted
from tests.support import examples
from tests.support.command import done

_PRIVATE = Path(tempfile.gettempdir()) / f"fairway-tests-{os.geteuid()}"
_HOME = _PRIVATE / "home"
_PRIVATE.mkdir(mode=0o700, exist_ok=True)
_HOME.mkdir(exist_ok=True)
_MEMORY = Path("/dev/shm")
_ROOM = 2e9  # bytes; the tests need a fraction
if _MEMORY.is_dir() and (_disk := os.statvfs(_MEMORY)).f_bavail * _disk.f_frsize > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
os.environ.pop("XDG_CACHE_HOME", None)
os.environ.update(HOME=str(_HOME), FAIRWAY_CACHE=str(_PRIVATE))
if not is_interpreted():
    warm_up()  # so that no test measures or reports a compilation
_variables = environment()

# If a script starts the tests in the background, SIGINT is ignored, also in the processes that they start and
# interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Leave out tests marked `soak`, and try fewer examples, unless the expression of `-m` names `soak`.

    An example may take any time, so that a busy machine makes no test fail.
    """
    chosen = config.option.markexpr
    examples.few = few = "soak" not in chosen
    settings.register_profile("fairway", max_examples=25 if few else 100, deadline=None)
    settings.load_profile("fairway")
    if few:
        config.option.markexpr = f"not soak and ({chosen})" if chosen else "not soak"


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(_variables):
        if name.startswith(PREFIX) and name != "FAIRWAY_CACHE":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def made_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data root with a night of 12 deals per level and a few Daily holes; tests only read it."""
    root = tmp_path_factory.mktemp("made") / "root"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRWAY_DEALS_PER_NIGHT", "12")
        patch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")
        patch.setattr(clock, "now", lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
        done("nightly", "--data", root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    yield root
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.fixture(scope="session")
def regenerated_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with 3 deals per level; then the medium pool was regenerated with 2. So 8 are in force."""
    root = tmp_path_factory.mktemp("regenerated") / "root"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRWAY_DEALS_PER_NIGHT", "3")
        patch.setenv("FAIRWAY_DAILY_FROM", "2026-11-30")
        patch.setattr(clock, "now", lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
        done("nightly", "--data", root)
        done("pool", "regenerate", "medium", "--size", 2, "--data", root)
    return root
