"""Parts and dailies have the same bytes for any number of workers, any order of dates, and after any kill."""

from pathlib import Path

import pytest

from tests.support.command import done, read_until, spawned
from tests.support.scenarios import content

# Far in the future, so that no solution is published, whenever the tests run.
NIGHTS = ("2931-02-27", "2931-02-28", "2931-03-01")
MADE = ("deals/", "daily/", "private/")
SMALL = {"FAIRWAY_DEALS_PER_NIGHT": "10", "FAIRWAY_DAILY_FROM": "2931-02-25"}


def make_nights_small(patch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        patch.setenv(name, value)


@pytest.fixture(autouse=True)
def _small_nights(monkeypatch: pytest.MonkeyPatch) -> None:
    make_nights_small(monkeypatch)


def arguments(root: Path, night: str, workers: int) -> tuple[object, ...]:
    return "nightly", "--date", night, "--allow-future", "--data", root, "--workers", workers


def parts_and_dailies(root: Path) -> dict[str, bytes]:
    """Return the files that do not even depend on which nights were made in one run."""
    return {path: data for path, data in content(root).items() if path.startswith(MADE)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data root with the first night, and then the other two from one run."""
    root = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        make_nights_small(patch)
        done(*arguments(root, NIGHTS[0], 1))
        done(*arguments(root, NIGHTS[2], 1))
    return root


def test_nights_in_order_and_dailies_in_another_order_give_the_same_bytes(
    undisturbed: Path, tmp_path: Path
) -> None:
    for first, last in (("2931-03-02", "2931-03-03"), ("2931-02-26", "2931-02-28")):
        done("daily", "publish", "--from", first, "--to", last, "--allow-future", "--data", tmp_path)
    for workers, night in enumerate((NIGHTS[0], NIGHTS[1], NIGHTS[2], NIGHTS[1]), start=1):
        done(*arguments(tmp_path, night, workers))
    made = parts_and_dailies(tmp_path)
    assert made == parts_and_dailies(undisturbed)
    assert sum(path.endswith(".parquet") for path in made) == 9
    assert sum(path.startswith("daily/2931") for path in made) == 7
    done("verify", "--sample", 3, "--data", tmp_path)


@pytest.mark.soak  # with several workers and real batches; test_killed.py runs in milliseconds
@pytest.mark.parametrize("words", ["easy: 4 of", "hard: 12 of", "daily: 1 of"])
def test_a_night_that_is_killed_and_run_again_gives_the_same_bytes(
    undisturbed: Path, tmp_path: Path, words: str
) -> None:
    done(*arguments(tmp_path, NIGHTS[0], 3))
    with spawned(*arguments(tmp_path, NIGHTS[2], 3)) as process:
        read_until(process, words)
        process.kill()
    done("pool", "status", "--data", tmp_path)
    done(*arguments(tmp_path, NIGHTS[2], 3))
    assert content(tmp_path) == content(undisturbed)
