"""Settings are layers: defaults, a file, variables, options; each value knows where it came from."""

import itertools
from collections.abc import Mapping
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jobs.settings.config_file import ConfigFile
from jobs.settings.keys import ALLOWED, Key, text_of, variable_of
from jobs.settings.load import Sources, configuration, faults_in, settings_from
from jobs.settings.model import Hooks, Settings
from pipeline.errors import ConfigurationError

KEY, OTHER = "0123456789abcdef" * 4, "ff" * 32
PLACE = Path("/etc/fairway/fairway.toml")


def file(text: str, *, in_root: bool = False) -> ConfigFile:
    return ConfigFile(PLACE, text, in_root)


def refused(
    text: str, variables: Mapping[str, str] | None = None, *, in_root: bool = False, path: Path = PLACE
) -> str:
    with pytest.raises(ConfigurationError) as caught:
        settings_from(variables or {}, 1, ConfigFile(path, text, in_root))
    assert "\n" not in str(caught.value)
    return str(caught.value)


# The order


LAYERS = ("file", "variable", "option")


@pytest.mark.parametrize(
    "given",
    [set(some) for size in range(len(LAYERS) + 1) for some in itertools.combinations(LAYERS, size)],
    ids=lambda some: "+".join(sorted(some)) or "none",
)
def test_a_later_layer_counts_and_is_named_as_the_origin(given: set[str]) -> None:
    found = configuration(
        Sources(
            variables={"FAIRWAY_WORKERS": "3"} if "variable" in given else {},
            processors=1,
            file=file("\nworkers = 2") if "file" in given else None,
            options={"workers": 4} if "option" in given else {"workers": None},
        )
    )
    last = max((LAYERS.index(layer) for layer in given), default=-1)
    assert found.settings.workers == last + 2
    origin = ("default", f"{PLACE}, line 2", "FAIRWAY_WORKERS", "--workers")[last + 1]
    assert str(found.origin_of(("workers",))) == origin


NUMBERS = [key for key, allowed in ALLOWED.items() if allowed.startswith("a whole number")]
SOME = st.dictionaries(st.sampled_from(NUMBERS), st.integers(200, 250), max_size=6)


@given(SOME, SOME, SOME)
def test_whatever_layers_give_the_last_one_that_says_something_counts(
    in_file: dict[Key, int], in_variables: dict[Key, int], in_options: dict[Key, int]
) -> None:
    options: dict[Key, int] = {key: number for key, number in in_options.items() if len(key) == 1}
    expected: dict[Key, int] = {**in_file, **in_variables, **options}
    assume(expected.get(("retry_first_minutes",), 5) <= expected.get(("retry_most_minutes",), 120))
    found = configuration(
        Sources(
            variables={variable_of(key): f"{number}" for key, number in in_variables.items()},
            processors=1,
            file=file("\n".join(f"{text_of(key)} = {number}" for key, number in in_file.items())),
            options={key[0]: number for key, number in options.items()},
        )
    )
    assert found.given.keys() == expected.keys()
    for key, number in expected.items():
        value: Any = found.settings
        for name in key:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        assert value == number
        layer = "option" if key in options else "variable" if key in in_variables else "file"
        assert found.given[key].origin.kind == layer


def test_layers_are_put_together_setting_by_setting_also_within_sections() -> None:
    text = """
    deals_cap = 9
    [levels.hard]
    deals_per_night = 2
    deals_cap = 3
    [hooks]
    on_run = ["a", "b"]
    timeout_seconds = 7
    """
    variables = {"FAIRWAY_LEVELS__HARD__DEALS_CAP": "4", "FAIRWAY_HOOKS__ON_RUN": '["c"]'}
    found = configuration(Sources(variables, 1, file(text)))
    settings = found.settings
    assert (settings.deals_of("hard"), settings.cap_of("hard"), settings.cap_of("easy")) == (2, 4, 9)
    assert settings.hooks == Hooks(on_run=("c",), timeout_seconds=7)
    assert str(found.origin_of(("levels", "hard", "deals_per_night"))) == f"{PLACE}, line 4"
    assert str(found.origin_of(("levels", "hard", "deals_cap"))) == "FAIRWAY_LEVELS__HARD__DEALS_CAP"
    assert str(found.origin_of(("hooks", "timeout_seconds"))) == f"{PLACE}, line 8"


def test_a_file_can_say_everything_but_the_key() -> None:
    text = """
    data = "/srv/fairway"
    workers = 7
    deals_per_night = 10
    deals_cap = 100
    publish_ahead_days = 5
    daily_from = 2026-11-01
    nightly_at = 23:59:00
    publish_every_minutes = 15
    retry_first_minutes = 1
    retry_most_minutes = 30
    clock_bound_days = 100
    keep_catalogs = 0
    keep_days = 7
    log_format = "json"
    metrics_file = "/run/fairway.prom"
    cache = "/var/cache/fairway"
    [levels]
    easy = { deals_per_night = 1, deals_cap = 10 }
    medium = { deals_per_night = 2, deals_cap = 20 }
    hard = { deals_per_night = 3, deals_cap = 30 }
    [hooks]
    on_failure = ["mail", "-s", "it failed"]
    on_publish = ["tell"]
    on_run = ["ping"]
    timeout_seconds = 5
    """
    found = configuration(Sources({}, 1, file(text)))
    assert {text_of(key) for key in ALLOWED} - {text_of(key) for key in found.given} == {
        "daily_key",
        "daily_key_file",
    }
    defaults = Settings()
    for name in Settings.model_fields.keys() - {"daily_key", "daily_key_file"}:
        assert getattr(found.settings, name) != getattr(defaults, name), name
    assert found.settings.nightly_at == time(23, 59)
    assert found.settings.daily_from == date(2026, 11, 1)


def test_every_variable_and_every_key_of_a_file_are_the_same_setting() -> None:
    for key in ALLOWED:
        assert variable_of(key).removeprefix("FAIRWAY_").lower().replace("__", ".") == text_of(key)


def test_a_path_in_a_file_begins_in_its_folder() -> None:
    settings = settings_from({}, 1, file('cache = "kernels"\ndata = "../data"\nmetrics_file = "/m.prom"'))
    assert settings.cache == Path("/etc/fairway/kernels")
    assert settings.data == Path("/etc/fairway/../data")
    assert settings.metrics_file == Path("/m.prom")


# What is refused


FIRST = f"{PLACE}, line 1: "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workers = 0", f"{FIRST}workers is 0; allowed is a whole number from 1 to 256"),
        ('workers = "many"', f"{FIRST}workers is 'many'; allowed is a whole number"),
        ("workers = true", f"{FIRST}workers is true: it is no whole number; allowed is"),
        ("workers = 2.0", f"{FIRST}workers is 2.0: it is no whole number; allowed is"),
        ("workers = [1]", f"{FIRST}workers is [1]; allowed is a whole number"),
        ("workers = { a = 1 }", f'{FIRST}workers is {{"a": 1}}; allowed is a whole number'),
        ("daily_from = 2025-12-31", f'{FIRST}daily_from is "2025-12-31"; allowed is a date from 2026-01-01'),
        ("daily_from = 2026-11-30T00:00:00", "it is no date; allowed is a date"),
        ("daily_from = 20261130", "it is no date; allowed is a date"),
        ("nightly_at = 00:05:30", "it is not to the minute; allowed is a time of the day in UTC, as HH:MM"),
        ("nightly_at = 5", "it is no time; allowed is a time of the day in UTC, as HH:MM"),
        ("log_format = 1", f"{FIRST}log_format is 1; allowed is text or json"),
        ("data = 5", f"{FIRST}data is 5; allowed is a path"),
        (
            "hooks = 3",
            f"{FIRST}hooks is 3; allowed is a section with on_failure, on_publish, on_run, timeout",
        ),
        ("levels = []", f"{FIRST}levels is []; allowed is a section with easy, medium, hard"),
        ("levels.easy = 9", f"{FIRST}levels.easy is 9; allowed is a section with deals_per_night, deals_cap"),
        ('hooks.on_run = "a b"', f"{FIRST}hooks.on_run is 'a b'; allowed is a command as a list"),
        ("hooks.on_run = [1]", f"{FIRST}hooks.on_run is [1]; allowed is a command as a list"),
        ("worker = 1", f"{FIRST}unknown key worker; the nearest that Fairway knows is workers"),
        ("[hook]\non_run = []", f"{FIRST}unknown key hook; the nearest that Fairway knows is hooks"),
        (
            "[hooks]\non_runs = []",
            f"{PLACE}, line 2: unknown key hooks.on_runs; the nearest that Fairway knows",
        ),
        (
            "levels.herd.deals_cap = 1",
            "unknown key levels.herd; the nearest that Fairway knows is levels.hard",
        ),
        ("levels.hard.cap = 1", "the nearest that Fairway knows is levels.hard.deals_cap"),
        ("workers 2", f"{PLACE}, line 1, column 9: Expected '='"),
        ('metrics_file = "catalog.json"', f"{FIRST}metrics_file is"),
        ('metrics_file = ""', "allowed is a path that ends in .prom"),
        ('cache = "a\\u0000b"', "no path can hold a NUL"),
        (f"workers = {'9' * 5000}", f"{PLACE}, line 1, column 1: "),
        (f"workers = {'[' * 20_000}", f"{PLACE}, line 1, column 1: it is nested too deep"),
        (f"log_format = '{'0f' * 32}'", "log_format is what looks like a key, and is not shown"),
        ("retry_first_minutes = 9\nretry_most_minutes = 8", "retry_most_minutes is 8, less than"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line_and_what_is_allowed(text: str, words: str) -> None:
    assert words in refused(text)
    assert words in "; ".join(fault.text for fault in faults_in(file(text)))


def test_a_variable_that_is_nested_too_deep_is_refused() -> None:
    words = "FAIRWAY_HOOKS__ON_RUN is .*: it is no JSON; allowed is a command"
    with pytest.raises(ConfigurationError, match=words):
        settings_from({"FAIRWAY_HOOKS__ON_RUN": "[" * 100_000}, 1)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    told = refused(
        "worker = 1\ndeals_cap = 0\n[hooks]\non_run = 5", {"FAIRWAY_WORKERS": "x", "FAIRWAY_Q": "1"}
    )
    for words in ("line 1: unknown key worker", "line 2: deals_cap is 0", "line 4: hooks.on_run is 5"):
        assert words in told
    assert "FAIRWAY_WORKERS is 'x'" in told
    assert "unknown variable FAIRWAY_Q" in told


def test_a_long_value_is_cut_where_it_is_shown() -> None:
    assert len(refused(f'workers = "{"x" * 5000}"')) < 300


def test_the_data_root_cannot_say_that_it_is_elsewhere() -> None:
    assert "data has no place in the data root itself" in refused('data = "/x"', in_root=True)
    assert settings_from({}, 1, file('data = "/x"')).data == Path("/x")


# The key


def key_in(folder: Path, name: str, key: str) -> Path:
    place = folder / name
    place.write_text(key)
    place.chmod(0o600)
    return place


def test_the_key_has_no_place_in_a_file_and_is_not_shown() -> None:
    own = f'daily_key = "{KEY}"'
    for text in (own, f'hooks.on_run = ["a"]\n{own}', f"[hooks]\n{own}", f'daily_kee = "{KEY}"'):
        told = refused(text)
        assert KEY not in told
    assert "has no place in a file of settings; name a file that holds it with daily_key_file" in refused(own)


def test_a_file_names_the_file_of_the_key(tmp_path: Path) -> None:
    key_in(tmp_path, "daily.key", KEY)
    named = ConfigFile(tmp_path / "fairway.toml", 'daily_key_file = "daily.key"')
    found = configuration(Sources({}, 1, named))
    assert found.settings.daily_key == bytes.fromhex(KEY)
    assert str(found.origin_of(("daily_key",))) == "daily_key_file"
    (tmp_path / "daily.key").chmod(0o644)
    told = refused('daily_key_file = "daily.key"', path=tmp_path / "fairway.toml")
    assert f"{tmp_path}/fairway.toml, line 1: daily_key_file: others can get at" in told


def test_a_key_in_whichever_form_overrules_the_key_of_a_layer_before(tmp_path: Path) -> None:
    first, second = key_in(tmp_path, "first", KEY), key_in(tmp_path, "second", OTHER)
    named = file(f'daily_key_file = "{first}"')
    by_file = settings_from({"FAIRWAY_DAILY_KEY_FILE": str(second)}, 1, named)
    assert (by_file.daily_key, by_file.daily_key_file) == (bytes.fromhex(OTHER), second)
    itself = settings_from({"FAIRWAY_DAILY_KEY": OTHER}, 1, named)
    assert (itself.daily_key, itself.daily_key_file) == (bytes.fromhex(OTHER), None)


def test_a_key_where_its_file_should_be_named_is_not_shown() -> None:
    for told in (refused(f'daily_key_file = "{KEY}"'), refused("", {"FAIRWAY_DAILY_KEY_FILE": KEY})):
        assert "this is a key; write it into a file and name that" in told
        assert KEY not in told
