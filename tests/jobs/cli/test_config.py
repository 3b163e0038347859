"""`--config`, `fairway config show` and `fairway config check`."""

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.settings.model import ALLOWED
from jobs.settings.sources import text_of
from tests.support.command import ROOT, commands, done, fairway, loaded

KEY = "0123456789abcdef" * 4


def shown(*arguments: object) -> dict[str, Any]:
    rows = json.loads(done("config", "show", "--json", *arguments).text)["settings"]
    return {row["name"]: row for row in rows}


# --config


def test_every_command_that_reads_data_or_computes_takes_config() -> None:
    lacking = []
    for name, command in commands():
        options = {option for parameter in loaded(command).params for option in parameter.opts}
        if options & {"--data", "--workers"} and "--config" not in options:
            lacking.append(name)
    assert lacking == []


def test_a_command_uses_the_file_in_its_data_root_or_the_one_that_is_named(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other.toml"
    root.mkdir()
    (root / "fairway.toml").write_text("workers = 0\n")
    other.write_text("worker = 1\n")
    for command in (["nightly"], ["pool", "status"], ["verify"], ["serve"], ["gc"]):
        outcome = fairway(*command, "--data", root)
        assert f"{root}/fairway.toml: workers is 0" in outcome.complaint
        assert outcome.code == 78
        outcome = fairway(*command, "--data", root, "--config", other)
        assert f"{other}: unknown key worker" in outcome.complaint
        assert outcome.code == 78


def test_a_file_that_is_named_can_set_the_data_root(made_root: Path, tmp_path: Path) -> None:
    file = tmp_path / "fairway.toml"
    file.write_text(f'data = "{made_root}"\n')
    expected = done("pool", "status", "--data", made_root, "--json").text
    assert done("pool", "status", "--config", file, "--json").text == expected
    outcome = fairway("pool", "status", "--config", file, "--data", tmp_path / "none")
    assert f"{tmp_path}/none" in outcome.complaint


def test_a_folder_with_only_a_settings_file_becomes_a_data_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fairway.toml").write_text('daily_from = "2026-11-30"\ndeals_per_night = 1\n')
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "2")
    report = json.loads(done("nightly", "--date", "2026-11-30", "--data", tmp_path, "--json").text)
    assert {level["added"] for level in report["levels"]} == {2}
    assert report["dailies"][0] == "2026-11-30"


def test_a_settings_file_that_cannot_be_read_ends_a_command_with_78(tmp_path: Path) -> None:
    outcome = fairway("pool", "status", "--config", tmp_path / "nowhere.toml")
    assert outcome.complaint == f"cannot read {tmp_path}/nowhere.toml: No such file or directory"
    assert outcome.code == 78


# config show


def test_every_setting_is_shown_with_its_value_and_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fairway.toml").write_text(
        '[hooks]\non_run = ["ping", "a b"]\n[levels.hard]\ndeals_cap = 7\n'
    )
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "3")
    monkeypatch.delenv("FAIRWAY_CACHE", raising=False)
    rows = shown("--data", tmp_path, "--workers", "2")
    assert list(rows) == [text_of(key) for key in ALLOWED]
    file = str(tmp_path / "fairway.toml")
    for name, value, origin, place in (
        ("data", str(tmp_path), "option", "--data"),
        ("workers", 2, "option", "--workers"),
        ("deals_per_night", 3, "variable", "FAIRWAY_DEALS_PER_NIGHT"),
        ("levels.hard.deals_per_night", 3, "setting", "deals_per_night"),
        ("levels.hard.deals_cap", 7, "file", file),
        ("levels.easy.deals_cap", 20_000, "setting", "deals_cap"),
        ("hooks.on_run", ["ping", "a b"], "file", file),
        ("hooks.on_failure", [], "default", None),
        ("nightly_at", "00:05", "default", None),
        ("daily_from", "2026-01-01", "default", None),
        ("metrics_file", str(tmp_path / "metrics.prom"), "default", None),
        ("cache", None, "default", None),
    ):
        row = rows[name]
        assert (row["value"], row["from"], row["place"]) == (value, origin, place), name
    text = done("config", "show", "--data", tmp_path, "--workers", "2").text
    lines = [line.split() for line in text.splitlines()]
    assert ["levels.hard.deals_cap", "7", file] in lines
    assert ["workers", "2", "--workers"] in lines
    assert ["nightly_at", "00:05", "default"] in lines


def test_the_data_root_of_a_checkout_is_shown_as_such() -> None:
    row = shown()["data"]
    assert (row["value"], row["place"]) == (str(ROOT / "data"), "the checkout")


def test_the_key_is_hidden_but_not_its_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown()["daily_key"] == {
        "name": "daily_key",
        "value": None,
        "secret": False,
        "from": "default",
        "place": None,
        "line": None,
    }
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", KEY)
    outcomes = [done("config", "show"), done("config", "show", "--json")]
    assert shown()["daily_key"]["secret"]
    monkeypatch.delenv("FAIRWAY_DAILY_KEY")
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    monkeypatch.setenv("FAIRWAY_DAILY_KEY_FILE", str(key))
    outcomes += [done("config", "show"), done("config", "show", "--json")]
    assert (shown()["daily_key"]["place"], shown()["daily_key_file"]["value"]) == ("daily_key_file", str(key))
    assert not any(KEY in outcome.text.lower() for outcome in outcomes)
    assert all("hidden" in outcome.text or "true" in outcome.text for outcome in outcomes)


# config check


def test_a_valid_file_passes(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text("[levels.hard]\ndeals_cap = 7\n")
    assert done("config", "check", file).text == "no problems found\n"
    assert json.loads(done("config", "check", file, "--json").text) == {"passed": True, "problems": []}


def test_all_mistakes_in_a_file_are_reported_with_78(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text('workers = 0\nworker = 1\n\n[hooks]\non_runs = 1\ntimeout_seconds = "x"\n')
    outcome = fairway("config", "check", file)
    assert outcome.code == 78
    workers = f"{file}: workers is 0; it must be a whole number from 1 to 256"
    assert outcome.text.splitlines() == [
        f"{file}: unknown key worker; did you mean workers?",
        f"{file}: unknown key hooks.on_runs; did you mean hooks.on_run?",
        workers,
        f"{file}: hooks.timeout_seconds is 'x'; it must be a whole number from 1 to 600",
        "",
        "4 problems",
    ]
    document = json.loads(fairway("config", "check", file, "--json").text)
    assert not document["passed"]
    assert document["problems"][2] == {
        "text": workers,
        "key": "workers",
        "value": "0",
        "allowed": "a whole number from 1 to 256",
        "from": "file",
        "place": str(file),
        "line": None,
        "column": None,
    }


def test_every_command_lists_mistakes_in_the_order_of_the_check(tmp_path: Path) -> None:
    file = tmp_path / "fairway.toml"
    file.write_text('keep_days = -1\nnightly_at = "99"\nunknown = 3\nworkers = 0\n')
    *listed, _, count = fairway("config", "check", file).text.splitlines()
    assert count == "4 problems"
    complaint = fairway("nightly", "--config", file, "--data", tmp_path / "root").complaint
    assert complaint == f"4 problems, one per line in `fairway config check`: {'; '.join(listed)}"


def test_a_syntax_error_is_reported_with_its_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text("workers = 1\ndeals_cap 2\n")
    outcome = fairway("config", "check", file, "--json")
    problem = json.loads(outcome.text)["problems"][0]
    assert (outcome.code, problem["line"], problem["column"]) == (78, 2, 11)
    assert problem["text"].startswith(f"{file}: ")


def test_a_file_is_checked_on_its_own_and_without_one_all_settings_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "any.toml"
    file.write_text('daily_key_file = "/nowhere/key"\n')
    monkeypatch.setenv("FAIRWAY_WORKERS", "0")
    done("config", "check", file)
    outcome = fairway("config", "check", "--config", file)
    assert outcome.code == 78
    assert "FAIRWAY_WORKERS is '0'" in outcome.text
    assert "daily_key_file: cannot read /nowhere/key" in outcome.text
