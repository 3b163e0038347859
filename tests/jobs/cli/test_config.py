"""`--config`, `fairway config show` and `fairway config check`: what is in force, why, and what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.settings.keys import ALLOWED, text_of
from tests.support.command import ROOT, commands, done, fairway, loaded

KEY = "0123456789abcdef" * 4


def shown(*arguments: object) -> dict[str, Any]:
    rows = json.loads(done("config", "show", "--json", *arguments).text)["settings"]
    return {row["name"]: row for row in rows}


def options_of(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


# --config


def test_every_command_that_looks_at_data_or_computes_takes_config() -> None:
    takes = {name: options_of(loaded(command)) for name, command in commands()}
    lacking = [
        name
        for name, options in takes.items()
        if options & {"--data", "--workers"} and not options & {"--config"}
    ]
    assert lacking == []


def test_a_command_goes_by_the_file_of_its_data_root_or_the_one_that_is_named(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other.toml"
    root.mkdir()
    (root / "fairway.toml").write_text("workers = 0\n")
    other.write_text("worker = 1\n")
    for command in (["nightly"], ["pool", "status"], ["verify"], ["serve"], ["gc"]):
        told = fairway(*command, "--data", root)
        assert f"{root}/fairway.toml, line 1: workers is 0" in told.complaint
        assert told.code == 78
        told = fairway(*command, "--data", root, "--config", other)
        assert f"{other}, line 1: unknown key worker" in told.complaint
        assert told.code == 78


def test_the_file_that_is_named_may_say_where_the_data_lies(made_root: Path, tmp_path: Path) -> None:
    file = tmp_path / "fairway.toml"
    file.write_text(f'data = "{made_root}"\n')
    told = json.loads(done("pool", "status", "--config", file, "--json").text)
    assert json.loads(done("pool", "status", "--data", made_root, "--json").text) == told
    assert (
        f"there is no data root at {tmp_path}/none"
        in fairway("pool", "status", "--config", file, "--data", tmp_path / "none").complaint
    )


def test_a_folder_with_nothing_but_a_file_of_settings_becomes_a_data_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fairway.toml").write_text('daily_from = "2026-11-30"\ndeals_per_night = 1\n')
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "2")
    told = json.loads(done("nightly", "--date", "2026-11-30", "--data", tmp_path, "--json").text)
    assert {level["added"] for level in told["levels"]} == {2}
    assert told["dailies"][0] == "2026-11-30"


def test_a_file_of_settings_that_cannot_be_read_is_told_with_78(tmp_path: Path) -> None:
    told = fairway("pool", "status", "--config", tmp_path / "nowhere.toml")
    assert told.complaint == f"cannot read {tmp_path}/nowhere.toml: No such file or directory"
    assert told.code == 78


# config show


def test_every_setting_is_shown_with_its_value_and_where_that_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fairway.toml").write_text(
        '[hooks]\non_run = ["ping", "a b"]\n[levels.hard]\ndeals_cap = 7\n'
    )
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "3")
    monkeypatch.delenv("FAIRWAY_CACHE", raising=False)  # tests may keep their kernels anywhere
    rows = shown("--data", tmp_path, "--workers", "2")
    assert list(rows) == [text_of(key) for key in ALLOWED]
    place = str(tmp_path / "fairway.toml")
    for name, value, origin, where, line in (
        ("data", str(tmp_path), "option", "--data", None),
        ("workers", 2, "option", "--workers", None),
        ("deals_per_night", 3, "variable", "FAIRWAY_DEALS_PER_NIGHT", None),
        ("levels.hard.deals_per_night", 3, "setting", "deals_per_night", None),
        ("levels.hard.deals_cap", 7, "file", place, 4),
        ("levels.easy.deals_cap", 20_000, "setting", "deals_cap", None),
        ("hooks.on_run", ["ping", "a b"], "file", place, 2),
        ("hooks.on_failure", [], "default", None, None),
        ("nightly_at", "00:05", "default", None, None),
        ("daily_from", "2026-01-01", "default", None, None),
        ("metrics_file", str(tmp_path / "metrics.prom"), "default", None, None),
        ("cache", None, "default", None, None),
    ):
        row = rows[name]
        assert (row["value"], row["from"], row["place"], row["line"]) == (value, origin, where, line), name
    text = done("config", "show", "--data", tmp_path, "--workers", "2").text
    lines = [line.split() for line in text.splitlines()]
    assert ["levels.hard.deals_cap", "7", f"{place},", "line", "4"] in lines
    assert ["workers", "2", "--workers"] in lines
    assert ["nightly_at", "00:05", "default"] in lines


def test_the_data_root_of_a_checkout_is_shown_as_such() -> None:
    row = shown()["data"]
    assert (row["value"], row["place"]) == (str(ROOT / "data"), "the checkout")


def test_the_key_is_masked_and_where_it_came_from_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown()["daily_key"] == {
        "name": "daily_key",
        "value": None,
        "secret": False,
        "from": "default",
        "place": None,
        "line": None,
    }
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", KEY)
    told = [done("config", "show"), done("config", "show", "--json")]
    assert shown()["daily_key"]["secret"]
    monkeypatch.delenv("FAIRWAY_DAILY_KEY")
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    monkeypatch.setenv("FAIRWAY_DAILY_KEY_FILE", str(key))
    told += [done("config", "show"), done("config", "show", "--json")]
    assert (shown()["daily_key"]["place"], shown()["daily_key_file"]["value"]) == ("daily_key_file", str(key))
    assert not any(KEY in outcome.text.lower() for outcome in told)
    assert all("hidden" in outcome.text or "true" in outcome.text for outcome in told)


# config check


def test_a_file_that_is_right_passes(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text("[levels.hard]\ndeals_cap = 7\n")
    assert done("config", "check", file).text == "no problem found\n"
    assert json.loads(done("config", "check", file, "--json").text) == {"passed": True, "problems": []}


def test_all_that_is_wrong_with_a_file_is_told_with_78(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text('workers = 0\nworker = 1\n\n[hooks]\ndaily_key = 1\ntimeout_seconds = "x"\n')
    outcome = fairway("config", "check", file)
    assert outcome.code == 78
    assert outcome.text.splitlines() == [
        f"{file}, line 1: workers is 0; allowed is a whole number from 1 to 256",
        f"{file}, line 2: unknown key worker; the nearest that Fairway knows is workers",
        f"{file}, line 5: unknown key hooks.daily_key; the nearest that Fairway knows is hooks.on_failure",
        f"{file}, line 6: hooks.timeout_seconds is 'x'; allowed is a whole number from 1 to 600",
        "",
        "4 problems",
    ]
    document = json.loads(fairway("config", "check", file, "--json").text)
    assert not document["passed"]
    assert document["problems"][0] == {
        "text": f"{file}, line 1: workers is 0; allowed is a whole number from 1 to 256",
        "key": "workers",
        "value": "0",
        "allowed": "a whole number from 1 to 256",
        "from": "file",
        "place": str(file),
        "line": 1,
        "column": None,
    }


def test_a_syntax_error_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text("workers = 1\ndeals_cap 2\n")
    outcome = fairway("config", "check", file, "--json")
    problem = json.loads(outcome.text)["problems"][0]
    assert (outcome.code, problem["line"], problem["column"]) == (78, 2, 11)
    assert problem["text"].startswith(f"{file}, line 2, column 11: ")


def test_a_file_is_checked_by_itself_and_without_one_all_that_is_in_force(
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
