"""Settings come from a mapping alone, are checked whole, and never show the key."""

from contextlib import suppress
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from jobs.settings.keys import VARIABLES
from jobs.settings.load import settings_from
from jobs.settings.model import (
    Hooks,
    LevelSettings,
    Settings,
    checkout_root,
    data_root,
    environment,
    environment_with,
)
from pipeline.daily.key import DailyKey
from pipeline.deals.levels import LEVELS
from pipeline.errors import ConfigurationError

KEY = "0123456789abcdef" * 4

BAD = [
    ({"FAIRWAY_WORKERS": "0"}, ["FAIRWAY_WORKERS is '0'", "allowed is a whole number from 1 to 256"]),
    ({"FAIRWAY_WORKERS": "many"}, ["FAIRWAY_WORKERS is 'many'", "a whole number"]),
    ({"FAIRWAY_WORKERS": "257"}, ["FAIRWAY_WORKERS is '257'", "256"]),
    ({"FAIRWAY_WORKERS": ""}, ["FAIRWAY_WORKERS is empty"]),
    ({"FAIRWAY_DATA": ""}, ["FAIRWAY_DATA is empty"]),
    ({"FAIRWAY_DAILY_KEY": ""}, ["FAIRWAY_DAILY_KEY is empty"]),
    ({"FAIRWAY_DEALS_PER_NIGHT": "20001"}, ["FAIRWAY_DEALS_PER_NIGHT is '20001'", "20,000"]),
    ({"FAIRWAY_DEALS_CAP": "-1"}, ["FAIRWAY_DEALS_CAP is '-1'"]),
    ({"FAIRWAY_PUBLISH_AHEAD_DAYS": "0"}, ["FAIRWAY_PUBLISH_AHEAD_DAYS is '0'", "1"]),
    ({"FAIRWAY_DAILY_FROM": "2025-12-31"}, ["FAIRWAY_DAILY_FROM is '2025-12-31'", "2026-01-01"]),
    ({"FAIRWAY_DAILY_FROM": "2026-02-30"}, ["FAIRWAY_DAILY_FROM is '2026-02-30'", "does not exist"]),
    ({"FAIRWAY_DAILY_FROM": "1767225600"}, ["FAIRWAY_DAILY_FROM is '1767225600'", "YYYY-MM-DD"]),
    ({"FAIRWAY_NIGHTLY_AT": "24:00"}, ["FAIRWAY_NIGHTLY_AT is '24:00'", "HH:MM"]),
    ({"FAIRWAY_NIGHTLY_AT": "0:05"}, ["FAIRWAY_NIGHTLY_AT is '0:05'", "HH:MM"]),
    ({"FAIRWAY_LOG_FORMAT": "xml"}, ["FAIRWAY_LOG_FORMAT is 'xml'", "text or json"]),
    ({"FAIRWAY_KEEP_DAYS": "1.5"}, ["FAIRWAY_KEEP_DAYS is '1.5'", "a whole number from 0 to 36,500"]),
    ({"FAIRWAY_HOOKS__TIMEOUT_SECONDS": "0"}, ["FAIRWAY_HOOKS__TIMEOUT_SECONDS is '0'", "1 to 600"]),
    ({"FAIRWAY_HOOKS__ON_RUN": "notify"}, ["FAIRWAY_HOOKS__ON_RUN is 'notify'", "no JSON", "a list"]),
    ({"FAIRWAY_HOOKS__ON_RUN": '"notify"'}, ["FAIRWAY_HOOKS__ON_RUN is '\"notify\"'; allowed", "a list"]),
    ({"FAIRWAY_HOOKS__ON_RUN": '["", "x"]'}, ["FAIRWAY_HOOKS__ON_RUN is", "the program is empty"]),
    ({"FAIRWAY_HOOKS__ON_RUN": '["x", "\\u0000"]'}, ["FAIRWAY_HOOKS__ON_RUN is", "NUL"]),
    ({"FAIRWAY_LEVELS__HARD__DEALS_CAP": "0"}, ["FAIRWAY_LEVELS__HARD__DEALS_CAP is '0'", "10,000,000"]),
    ({"FAIRWAY_LEVELS__HARDER__DEALS_CAP": "1"}, ["unknown", "nearest", "FAIRWAY_LEVELS__HARD__DEALS_CAP"]),
    ({"FAIRWAY_HOOKS__ON_RUNS": "[]"}, ["unknown", "nearest", "FAIRWAY_HOOKS__ON_RUN"]),
    ({"FAIRWAY_LEVELS": "{}"}, ["unknown variable FAIRWAY_LEVELS", "FAIRWAY_LEVELS__"]),
    (
        {"FAIRWAY_RETRY_FIRST_MINUTES": "50", "FAIRWAY_RETRY_MOST_MINUTES": "49"},
        ["retry_most_minutes is 49, less than retry_first_minutes, which is 50"],
    ),
    ({"FAIRWAY_WORKER": "2"}, ["unknown variable FAIRWAY_WORKER", "FAIRWAY_WORKERS"]),
    ({"FAIRWAY_KEY": KEY}, ["unknown variable FAIRWAY_KEY", "FAIRWAY_DAILY_KEY"]),
    (
        {"FAIRWAY_WORKERS": "x", "FAIRWAY_DEALS_CAP": "y", "FAIRWAY_Z": "z"},
        ["FAIRWAY_WORKERS", "FAIRWAY_DEALS_CAP", "FAIRWAY_Z"],
    ),
]


def test_without_variables_everything_has_its_default() -> None:
    settings = settings_from({}, processor_count=3)
    assert settings == Settings(workers=3)
    assert (settings.deals_per_night, settings.deals_cap, settings.publish_ahead_days) == (500, 20_000, 2)
    assert settings.daily_from == date(2026, 1, 1)
    assert (settings.data, settings.daily_key, settings.cache) == (None, None, None)


def test_every_variable_sets_its_field() -> None:
    variables = {
        "FAIRWAY_DATA": "/srv/fairway",
        "FAIRWAY_DAILY_KEY": KEY,
        "FAIRWAY_DAILY_KEY_FILE": "/nowhere/key",
        "FAIRWAY_WORKERS": "7",
        "FAIRWAY_DEALS_PER_NIGHT": "10",
        "FAIRWAY_DEALS_CAP": "100",
        "FAIRWAY_PUBLISH_AHEAD_DAYS": "5",
        "FAIRWAY_DAILY_FROM": "2026-11-01",
        "FAIRWAY_NIGHTLY_AT": "23:59",
        "FAIRWAY_PUBLISH_EVERY_MINUTES": "15",
        "FAIRWAY_RETRY_FIRST_MINUTES": "1",
        "FAIRWAY_RETRY_MOST_MINUTES": "30",
        "FAIRWAY_CLOCK_BOUND_DAYS": "100",
        "FAIRWAY_KEEP_CATALOGS": "0",
        "FAIRWAY_KEEP_DAYS": "7",
        "FAIRWAY_LOG_FORMAT": "json",
        "FAIRWAY_METRICS_FILE": "/run/fairway.prom",
        "FAIRWAY_HOOKS__ON_FAILURE": '["mail", "-s", "it failed"]',
        "FAIRWAY_HOOKS__ON_PUBLISH": "[]",
        "FAIRWAY_HOOKS__ON_RUN": '["ping"]',
        "FAIRWAY_HOOKS__TIMEOUT_SECONDS": "5",
        "FAIRWAY_CACHE": "/var/cache/fairway",
    }
    for n, level in enumerate(LEVELS, start=1):
        variables[f"FAIRWAY_LEVELS__{level.upper()}__DEALS_PER_NIGHT"] = f"{n}"
        variables[f"FAIRWAY_LEVELS__{level.upper()}__DEALS_CAP"] = f"{n}0"
    assert set(variables) == set(VARIABLES)
    del variables["FAIRWAY_DAILY_KEY_FILE"]  # it stands for the key itself; see test_jobs_secrets
    assert settings_from(variables, processor_count=1) == Settings(
        data=Path("/srv/fairway"),
        daily_key=DailyKey.fromhex(KEY),
        workers=7,
        deals_per_night=10,
        deals_cap=100,
        publish_ahead_days=5,
        daily_from=date(2026, 11, 1),
        nightly_at=time(23, 59),
        publish_every_minutes=15,
        retry_first_minutes=1,
        retry_most_minutes=30,
        clock_bound_days=100,
        keep_catalogs=0,
        keep_days=7,
        log_format="json",
        hooks=Hooks(on_failure=("mail", "-s", "it failed"), on_run=("ping",), timeout_seconds=5),
        levels={
            level: LevelSettings(deals_per_night=n, deals_cap=10 * n)
            for n, level in enumerate(LEVELS, start=1)
        },
        metrics_file=Path("/run/fairway.prom"),
        cache=Path("/var/cache/fairway"),
    )


def test_a_level_has_its_own_numbers_where_it_is_given_some() -> None:
    settings = Settings(
        deals_cap=7, levels={"hard": LevelSettings(deals_per_night=3), "easy": LevelSettings(deals_cap=9)}
    )
    assert {level: (settings.deals_of(level), settings.cap_of(level)) for level in LEVELS} == {
        "easy": (500, 9),
        "medium": (500, 7),
        "hard": (3, 7),
    }


def test_variables_of_others_are_passed_over() -> None:
    assert settings_from({"PATH": "", "FAIR": "way", "XFAIRWAY_DATA": "1"}, 2) == settings_from({}, 2)


@pytest.mark.parametrize(("variables", "words"), BAD)
def test_a_bad_value_is_named_with_what_is_allowed(variables: dict[str, str], words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings_from(variables, processor_count=1)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["secret", KEY[:-1], f"{KEY}0", KEY.replace("0", "g"), f" {KEY}", KEY + "\n"])
def test_a_key_that_is_not_64_hex_digits_is_refused_and_never_shown(key: str) -> None:
    with pytest.raises(
        ConfigurationError, match="FAIRWAY_DAILY_KEY: the key must be exactly 64 hex"
    ) as caught:
        settings_from({"FAIRWAY_DAILY_KEY": key}, processor_count=1)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert key.strip() not in str(chain)
        chain = chain.__cause__


def test_the_key_is_hidden_where_settings_are_shown() -> None:
    settings = settings_from({"FAIRWAY_DAILY_KEY": KEY}, processor_count=1)
    assert settings.daily_key == bytes.fromhex(KEY)
    for text in (repr(settings), str(settings)):
        assert KEY not in text
        assert repr(settings.daily_key) not in text


def test_settings_cannot_be_changed() -> None:
    settings = Settings(levels={"hard": LevelSettings(deals_cap=3)}, hooks=Hooks(on_run=("a",)))
    whole: Any = settings
    with pytest.raises(ValidationError):
        whole.workers = 2
    with pytest.raises(ValidationError):
        whole.hooks.on_run = ()
    with pytest.raises(ValidationError):
        whole.levels["hard"].deals_cap = 4
    with pytest.raises(TypeError):
        whole.levels["easy"] = LevelSettings()
    assert settings.model_dump()["levels"] == {"hard": {"deals_per_night": None, "deals_cap": 3}}


def test_settings_read_nothing_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "9")
    assert Settings() == Settings(workers=1)
    assert settings_from({}, processor_count=1) == Settings()


def test_the_data_root_is_where_the_settings_say_or_the_checkout() -> None:
    assert data_root(Settings(data=Path("/set")), Path("/checkout")) == Path("/set")
    assert data_root(Settings(), Path("/checkout")) == Path("/checkout")
    assert data_root(Settings(data=Path("here")), None) == Path.cwd() / "here"
    with pytest.raises(ConfigurationError, match=r"--data DIR or set FAIRWAY_DATA"):
        data_root(Settings(), None)


def test_a_checkout_has_a_project_file_and_a_marked_data_folder(tmp_path: Path) -> None:
    package = tmp_path / "jobs" / "__init__.py"
    assert checkout_root(package) is None
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "data").mkdir()
    assert checkout_root(package) is None
    (tmp_path / "data" / ".fairway-root").touch()
    assert checkout_root(package) == tmp_path / "data"


def test_variables_are_other_ones_for_the_time_of_a_block_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE", "before")
    monkeypatch.delenv("TWO", raising=False)
    before = dict(environment())
    with suppress(KeyError), environment_with({"ONE": "1", "TWO": "2"}):
        assert environment() == before | {"ONE": "1", "TWO": "2"}
        raise KeyError
    assert environment() == before
