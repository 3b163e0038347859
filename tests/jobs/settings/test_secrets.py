"""The secret key: where it can come from, where it never shows, and the warning if there is none."""

import hashlib
import json
import os
import pickle
import stat
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from jobs.settings.key_file import read_key_text
from jobs.settings.load import configure
from jobs.terminal import clock
from pipeline.daily import publish
from pipeline.daily.key import HIDDEN, DailyKey
from pipeline.daily.publish import make_daily
from pipeline.errors import ConfigurationError
from pipeline.pools import nights as generate
from tests.support.command import Outcome, done, fairway, files_of

pytestmark = pytest.mark.system

KEY = "00112233445566778899aabbccddeeff" * 2
OTHER = "ff" * 32
WARNING = "anyone can predict future holes"
FORMS = (KEY, KEY.upper(), repr(bytes.fromhex(KEY))[2:-1])  # as hex, and as Python shows bytes


@pytest.fixture(autouse=True)
def _little_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
    monkeypatch.setattr(generate, "BATCH_SIZE", 5)
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "1")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-29")
    monkeypatch.setenv("FAIRWAY_WORKERS", "1")


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(0o600)
    monkeypatch.setenv("FAIRWAY_DAILY_KEY_FILE", str(file))
    return file


def shows_key(text: str) -> bool:
    return any(form in text for form in FORMS)


# Where it comes from


def test_a_private_key_file_supplies_the_key(key_file: Path) -> None:
    variables = {"FAIRWAY_DAILY_KEY_FILE": str(key_file)}
    for text in (KEY, f"{KEY}\n", f"{KEY.upper()}\r\n"):
        key_file.write_text(text)
        for mode in (0o600, 0o400):
            key_file.chmod(mode)
            assert configure(variables, 1).settings.daily_key == bytes.fromhex(KEY)
        key_file.chmod(0o600)


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o602, 0o610, 0o644, 0o666])
def test_a_key_file_that_others_can_access_is_rejected_with_78(key_file: Path, mode: int) -> None:
    key_file.chmod(mode)
    outcome = fairway("daily", "show")
    assert f"FAIRWAY_DAILY_KEY_FILE: {key_file} is accessible to others (mode {mode:o})" in outcome.complaint
    assert "chmod 600" in outcome.complaint
    assert (outcome.code, shows_key(outcome.err)) == (78, False)


@pytest.mark.parametrize("mode", [0o440, 0o640])
def test_a_key_file_of_root_may_be_readable_by_the_group_of_this_user(
    key_file: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [os.getegid(), *os.getgroups()]
    another = max(groups) + 1

    def owned_by(user: int, group: int) -> Callable[[int], os.stat_result]:
        return lambda _handle: os.stat_result((stat.S_IFREG | mode, 0, 0, 1, user, group, 65, 0, 0, 0))

    for group in groups:
        monkeypatch.setattr(os, "fstat", owned_by(0, group))
        assert read_key_text(key_file) == KEY
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for user, group in ((0, another), (1000, groups[0])):
        monkeypatch.setattr(os, "fstat", owned_by(user, group))
        with pytest.raises(ConfigurationError, match="accessible to others"):
            read_key_text(key_file)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_in_a_key_file_is_named(key_file: Path, encoding: str) -> None:
    key_file.write_text(KEY, encoding)
    outcome = fairway("nightly")
    assert outcome.complaint.endswith("starts with a byte order mark; save it as plain ASCII text")
    assert (outcome.code, shows_key(outcome.err)) == (78, False)


@pytest.mark.parametrize("content", ["", KEY[:-1], f"{KEY}0", KEY.replace("0", "g"), f" {KEY}", f"{KEY}\n\n"])
def test_a_key_file_with_anything_but_64_hex_digits_is_rejected_with_78(key_file: Path, content: str) -> None:
    key_file.write_text(content)
    outcome = fairway("nightly")
    assert outcome.complaint == "FAIRWAY_DAILY_KEY_FILE: the key must be exactly 64 hexadecimal digits"
    assert outcome.code == 78


def test_a_key_file_that_cannot_be_read_is_rejected_with_78(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")  # without a writer
    for place in (tmp_path / "nowhere", tmp_path, tmp_path / "pipe"):
        monkeypatch.setenv("FAIRWAY_DAILY_KEY_FILE", str(place))
        outcome = fairway("nightly")
        assert (
            f"FAIRWAY_DAILY_KEY_FILE: {place} is" in outcome.complaint or "cannot read" in outcome.complaint
        )
        assert outcome.code == 78


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_file_of_another_user_is_rejected(key_file: Path) -> None:
    os.chown(key_file, 65534, 65534)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        configure({"FAIRWAY_DAILY_KEY_FILE": str(key_file)}, 1)


def test_a_key_and_a_key_file_together_are_rejected(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", KEY)
    outcome = fairway("nightly")
    assert outcome.complaint == "FAIRWAY_DAILY_KEY and FAIRWAY_DAILY_KEY_FILE are both set; unset one of them"
    assert outcome.code == 78


def test_no_command_takes_the_key_as_an_argument() -> None:
    for command in (["nightly"], ["serve"], ["daily", "publish"], ["verify"]):
        for option in ("--key", "--daily-key", "--key-file"):
            outcome = fairway(*command, option, KEY)
            assert (outcome.code, shows_key(outcome.err)) == (2, False)


# Where it never shows


def test_a_key_is_its_bytes_and_never_shows_them() -> None:
    key = DailyKey.fromhex(KEY)
    assert key == bytes.fromhex(KEY)
    assert pickle.loads(pickle.dumps(key)) == key
    settings = configure({"FAIRWAY_DAILY_KEY": KEY}, 1).settings
    work = partial(make_daily, key=key)
    shown = [
        f"{key}",
        f"{key!r}",
        f"{[key]}",
        f"{work}",
        f"{settings}",
        f"{settings!r}",
        repr(vars(settings)),
    ]
    assert all(HIDDEN in text for text in (*shown[:4], shown[-1]))
    shown += [str(settings.model_dump()), settings.model_dump_json(), repr(pickle.loads(pickle.dumps(key)))]
    assert not any(map(shows_key, shown))


def everything_of(root: Path, *outcomes: Outcome) -> str:
    """Return everything that runs have written or printed, as text in which every byte shows."""
    data = [*files_of(root).values(), *(outcome.out + outcome.err.encode() for outcome in outcomes)]
    return "".join(repr(each) for each in data)


@pytest.mark.usefixtures("key_file")
def test_the_key_is_in_no_file_log_record_or_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    outcomes = [done("nightly", "--data", root), done("verify", "--data", root)]
    daily = json.loads((root / "daily" / "2026-11-30.json").read_bytes())
    assert daily["keyed"]
    assert daily["key_id"] == hashlib.sha256(b"fairway key id" + bytes.fromhex(KEY)).hexdigest()[:8]
    (root / "daily" / "2026-11-30.json").unlink()
    monkeypatch.delenv("FAIRWAY_DAILY_KEY_FILE")
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", OTHER)
    outcomes += [fairway("nightly", "--data", root), fairway("verify", "--data", root, "--json")]
    assert [outcome.code for outcome in outcomes] == [0, 0, 1, 1]
    assert "gives another hole than the one published" in everything_of(root / "runs")
    found = everything_of(root, *outcomes)
    assert not shows_key(found)
    assert OTHER not in found


@pytest.mark.usefixtures("key_file")
def test_the_key_is_in_no_traceback_of_an_unexpected_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(day: object, key: object, _watch: object) -> None:
        raise ZeroDivisionError(f"{day} {key} {key!r}")

    monkeypatch.setattr(publish, "choose", fault)
    with pytest.raises(ZeroDivisionError) as caught:
        fairway("nightly", "--data", tmp_path / "root")
    whole = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(whole.format())
    assert "key = <the daily key>" in text  # variables are shown, but the key hides itself
    assert not shows_key(text)


# The warning without one


def warnings_in(outcome: Outcome) -> int:
    return sum(WARNING in line for line in outcome.err.splitlines())


@pytest.mark.parametrize("command", [["nightly"], ["daily", "publish"]], ids=" ".join)
def test_publishing_without_a_key_warns_once_and_says_how_to_make_one(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = done(*command, "--data", tmp_path / "root")
    assert warnings_in(outcome) == 1
    assert "openssl rand -hex 32" in outcome.err
    assert "FAIRWAY_DAILY_KEY_FILE=FILE" in outcome.err
    assert warnings_in(done(*command, "--data", tmp_path / "root")) == 0  # nothing was published
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", KEY)
    monkeypatch.setenv("FAIRWAY_PUBLISH_AHEAD_DAYS", "3")
    assert warnings_in(done(*command, "--data", tmp_path / "root")) == 0


# Solutions


def solutions_of(root: Path) -> dict[str, list[str]]:
    return {
        folder: sorted(file.stem for file in (root / folder).glob("*.json"))
        for folder in ("private/solutions", "daily/solutions")
    }


def test_solutions_wait_for_the_end_of_their_date_unless_requested_at_once(tmp_path: Path) -> None:
    publishing = ("daily", "publish", "--data", tmp_path)
    done(*publishing)
    days = ["2026-11-29", "2026-11-30", "2026-12-01", "2026-12-02"]
    assert solutions_of(tmp_path) == {"private/solutions": days[1:], "daily/solutions": days[:1]}
    now = (*publishing, "--solutions", "now")
    report = json.loads(done(*now, "--from", "2026-12-01", "--to", "2026-12-01", "--json").out)
    assert report == {"made": [], "there": 1, "released": ["2026-12-01"]}
    assert solutions_of(tmp_path) == {
        "private/solutions": ["2026-11-30", "2026-12-02"],
        "daily/solutions": ["2026-11-29", "2026-12-01"],
    }
    assert "2 solutions published, 2026-11-30 to 2026-12-02" in done(*now).text
    assert solutions_of(tmp_path) == {"private/solutions": [], "daily/solutions": days}
    before = files_of(tmp_path / "daily")
    done(*publishing)  # they stay published
    assert files_of(tmp_path / "daily") == before
    done("verify", "--data", tmp_path)
    assert fairway(*publishing, "--solutions", "later").code == 2


def test_holes_can_be_published_with_their_solutions(tmp_path: Path) -> None:
    done("daily", "publish", "--solutions", "now", "--data", tmp_path)
    assert solutions_of(tmp_path)["private/solutions"] == []
    assert len(solutions_of(tmp_path)["daily/solutions"]) == 4
    done("verify", "--data", tmp_path)
