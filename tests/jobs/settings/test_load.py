"""Settings come from defaults, a file, variables and options; all mistakes are reported at once."""

import itertools
import os
from collections.abc import Callable, Mapping
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from jobs.settings.load import (
    InvalidSettingsError,
    checkout_root,
    configure,
    data_root,
    environment,
    load,
)
from jobs.settings.model import ALLOWED, Hooks, Key, LevelSettings, Settings
from jobs.settings.sources import VARIABLES, text_of, variable_of
from pipeline.daily.key import DailyKey
from pipeline.deals.levels import LEVELS
from pipeline.errors import ConfigurationError

KEY, OTHER = "0123456789abcdef" * 4, "ff" * 32

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a settings file."""

    def write_file(text: str) -> Path:
        file = tmp_path / "fairway.toml"
        file.write_text(text)
        return file

    return write_file


def problems(
    variables: Mapping[str, str] | None = None, file: Path | None = None, **options: Any
) -> list[str]:
    with pytest.raises(InvalidSettingsError) as caught:
        configure(variables or {}, 1, file, **options)
    texts = [problem.text for problem in caught.value.problems]
    assert str(caught.value).endswith("; ".join(texts))
    assert "\n" not in str(caught.value)
    return texts


# Precedence

LAYERS = ("file", "variable", "option")


@pytest.mark.parametrize(
    "given",
    [set(some) for size in range(len(LAYERS) + 1) for some in itertools.combinations(LAYERS, size)],
    ids=lambda some: "+".join(sorted(some)) or "none",
)
def test_a_later_source_overrides_earlier_ones_and_is_the_origin(given: set[str], write: Write) -> None:
    file = write("workers = 2")
    configuration = configure(
        {"FAIRWAY_WORKERS": "3"} if "variable" in given else {},
        1,
        file if "file" in given else None,
        {"workers": 4} if "option" in given else {"workers": None},
    )
    last = max((LAYERS.index(layer) for layer in given), default=-1)
    assert configuration.settings.workers == last + 2
    origin = ("default", str(file), "FAIRWAY_WORKERS", "--workers")[last + 1]
    assert str(configuration.origin_of(("workers",))) == origin


NUMBERS = [
    key
    for key, allowed in ALLOWED.items()
    if allowed.startswith("a whole number") and "difficulty" not in key[-1]
]
SOME = st.dictionaries(st.sampled_from(NUMBERS), st.integers(200, 250), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SOME, SOME, SOME)
def test_sources_are_merged_setting_by_setting(
    write: Write, in_file: dict[Key, int], in_variables: dict[Key, int], in_options: dict[Key, int]
) -> None:
    options: dict[Key, int] = {key: number for key, number in in_options.items() if len(key) == 1}
    expected: dict[Key, int] = {**in_file, **in_variables, **options}
    assume(expected.get(("retry_first_minutes",), 5) <= expected.get(("retry_most_minutes",), 120))
    configuration = configure(
        {variable_of(key): f"{number}" for key, number in in_variables.items()},
        1,
        write("\n".join(f"{text_of(key)} = {number}" for key, number in in_file.items())),
        {key[0]: number for key, number in options.items()},
    )
    assert configuration.values.keys() == expected.keys()
    for key, number in expected.items():
        value: Any = configuration.settings
        for name in key:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        assert value == number
        kind = "option" if key in options else "variable" if key in in_variables else "file"
        assert configuration.origin_of(key).kind == kind


EVERYTHING = Settings(
    data=Path("/srv/fairway"),
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
    keep_records=500,
    log_format="json",
    metrics_file=Path("/run/fairway.prom"),
    cache=Path("/var/cache/fairway"),
    hooks=Hooks(
        on_failure=("mail", "-s", "failed"), on_publish=("purge",), on_run=("ping",), timeout_seconds=5
    ),
    active_levels=("hard", "easy"),
    levels={
        level: LevelSettings(
            rules="golf",
            mean_from="-2",
            mean_below="4.25",
            difficulty_from=2,
            difficulty_to=3,
            course=(3, 4, 3, 4, 3, 4, 3, 4, 3),
            deals_per_night=n,
            deals_cap=10 * n,
        )
        for n, level in enumerate(LEVELS, start=1)
    },
)
LEVEL_IN_TOML = {
    "rules": '"golf"',
    "mean_from": "-2",
    "mean_below": "4.250",
    "difficulty_from": "2",
    "difficulty_to": "3",
    "course": "[3, 4, 3, 4, 3, 4, 3, 4, 3]",
}
IN_TOML = {
    "data": '"/srv/fairway"',
    "workers": "7",
    "deals_per_night": "10",
    "deals_cap": "100",
    "publish_ahead_days": "5",
    "daily_from": "2026-11-01",
    "nightly_at": "23:59:00",
    "publish_every_minutes": "15",
    "retry_first_minutes": "1",
    "retry_most_minutes": "30",
    "clock_bound_days": "100",
    "keep_catalogs": "0",
    "keep_days": "7",
    "keep_records": "500",
    "log_format": '"json"',
    "metrics_file": '"/run/fairway.prom"',
    "cache": '"/var/cache/fairway"',
    "active_levels": '["hard", "easy"]',
    "hooks.on_failure": '["mail", "-s", "failed"]',
    "hooks.on_publish": '["purge"]',
    "hooks.on_run": '["ping"]',
    "hooks.timeout_seconds": "5",
    **{f"levels.{level}.{key}": value for level in LEVELS for key, value in LEVEL_IN_TOML.items()},
    **{f"levels.{level}.deals_per_night": f"{n}" for n, level in enumerate(LEVELS, start=1)},
    **{f"levels.{level}.deals_cap": f"{n}0" for n, level in enumerate(LEVELS, start=1)},
}


def test_a_file_can_set_everything_but_the_key(write: Write) -> None:
    configuration = configure({}, 1, write("\n".join(f"{key} = {value}" for key, value in IN_TOML.items())))
    assert configuration.settings == EVERYTHING
    assert ALLOWED.keys() - configuration.values.keys() == {("daily_key",), ("daily_key_file",)}


def test_every_setting_has_a_variable() -> None:
    as_text = IN_TOML | {"nightly_at": "23:59", "daily_key": KEY}
    variables = {
        f"FAIRWAY_{key.upper().replace('.', '__')}": value.strip('"') for key, value in as_text.items()
    }
    assert variables.keys() | {"FAIRWAY_DAILY_KEY_FILE"} == VARIABLES.keys()
    expected = EVERYTHING.model_copy(update={"daily_key": DailyKey.fromhex(KEY)})
    assert configure(variables, 1).settings == expected


def test_without_sources_everything_has_its_default(tmp_path: Path) -> None:
    unrelated = {"PATH": "", "FAIR": "way", "XFAIRWAY_DATA": "1"}
    assert configure(unrelated, 3).settings == Settings(workers=3)
    assert configure({}, 10_000).settings.workers == 256
    assert load(data=tmp_path).settings.data == tmp_path


def test_the_file_in_the_data_root_is_used_unless_another_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fairway.toml").write_bytes(b"\xef\xbb\xbfdeals_cap = 1\r\n")  # as Windows editors write it
    other = tmp_path / "other"
    other.write_text("deals_cap = 2")
    assert load(data=tmp_path).settings.deals_cap == 1
    monkeypatch.setenv("FAIRWAY_DATA", str(tmp_path))
    assert load().settings.deals_cap == 1
    assert load(other).settings.deals_cap == 2


def test_relative_paths_in_a_file_start_at_its_folder(write: Write, tmp_path: Path) -> None:
    found = configure({}, 1, write('cache = "kernels"\ndata = "../data"\nmetrics_file = "/m.prom"')).settings
    assert found.cache == tmp_path / "kernels"
    assert found.data == tmp_path / "../data"
    assert found.metrics_file == Path("/m.prom")


# Mistakes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workers = 0", "FILE: workers is 0; it must be a whole number from 1 to 256"),
        ('workers = "many"', "FILE: workers is 'many'; it must be a whole number"),
        ("workers = true", "FILE: workers is true: it is not a whole number; it must be"),
        ("workers = 2.0", "FILE: workers is 2.0: it is not a whole number; it must be"),
        ("workers = [1]", "FILE: workers is [1]; it must be a whole number"),
        ("workers = { a = 1 }", 'FILE: workers is {"a": 1}; it must be a whole number'),
        ("daily_from = 2025-12-31", 'FILE: daily_from is "2025-12-31"; it must be a date from 2026-01-01'),
        ("daily_from = 2026-11-30T00:00:00", "it is not a date; it must be a date"),
        ("daily_from = 20261130", "it is not a date; it must be a date"),
        (
            "nightly_at = 00:05:30",
            "it is not a time of day in hours and minutes; it must be a time of day in UTC",
        ),
        ("nightly_at = 5", "it is not a time of day"),
        ("log_format = 1", "FILE: log_format is 1; it must be text or json"),
        ("data = 5", "FILE: data is 5; it must be a path"),
        ("hooks = 3", "FILE: hooks is 3; it must be a section with on_failure, on_publish, on_run, timeout"),
        ("levels = []", "FILE: levels is []; it must be a section with easy, medium, hard"),
        (
            "levels.easy = 9",
            "FILE: levels.easy is 9; it must be a section with rules, mean_from,",
        ),
        ('hooks.on_run = "a b"', "FILE: hooks.on_run is 'a b'; it must be a command as a list"),
        ("hooks.on_run = [1]", "FILE: hooks.on_run is [1]; it must be a command as a list"),
        ("worker = 1", "FILE: unknown key worker; did you mean workers?"),
        ("[hook]\non_run = []", "FILE: unknown key hook; did you mean hooks?"),
        ("[hooks]\non_runs = []", "unknown key hooks.on_runs; did you mean hooks.on_run?"),
        (
            "levels.herd.deals_cap = 1",
            "level 'herd': a new level needs rules, one of relaxed,",
        ),
        ("[levels.herd]", "level 'herd': a new level needs rules"),
        ("levels.herd.cap = 1", "unknown key levels.herd.cap; did you mean levels.herd.deals_cap?"),
        ('levels.daily.rules = "golf"', "level 'daily': a name is a lower-case letter"),
        ('levels."../x".rules = "golf"', "level '../x': a name is a lower-case letter"),
        (
            'levels.kids.rules = "gold"',
            "level 'kids': rules is 'gold'; it must be one of relaxed,",
        ),
        ("levels.easy.mean_below = nan", "levels.easy.mean_below is NaN"),
        ("levels.easy.mean_below = -16", "mean_below -16 is not above -16, the lowest score"),
        (
            "levels.easy.mean_from = 4.5",
            "mean_from 4.5 is not less than mean_below 4.5, so",
        ),
        (
            "levels.easy.difficulty_to = 0",
            "levels.easy.difficulty_to is 0; it must be a whole number",
        ),
        ("levels.easy.difficulty_from = 2", "difficulty_from 2 is above difficulty_to 1"),
        ("levels.hard.course = [4, 5, 4, 5, 4, 5, 4, 5]", "course has 8 holes; a round has 9"),
        ("levels.easy.mean_below = 3.5", "but all deals that it admits have par 3; use those, or no course"),
        ('active_levels = ["easy", "kids"]', "active_levels names 'kids'; the levels are easy, hard, medium"),
        ('active_levels = ["easy", "easy"]', "active_levels names a level twice"),
        ("levels.hard.cap = 1", "did you mean levels.hard.deals_cap?"),
        ("workers 2", "FILE: Expected '=' after a key in a key/value pair (at line 1, column 9)"),
        ('metrics_file = "catalog.json"', "FILE: metrics_file is"),
        ('metrics_file = ""', "the path is empty; it must be a path that ends in .prom"),
        ('cache = "~/cache"', "write the path in full"),
        (f"workers = {'9' * 5000}", "FILE: "),
        (f"workers = {'[' * 20_000}", "FILE: "),
        (f"log_format = '{'0f' * 32}'", "log_format is something that looks like a key and is not shown"),
        ("retry_first_minutes = 9\nretry_most_minutes = 8", "retry_most_minutes is 8; it must be at least"),
    ],
)
def test_a_mistake_in_a_file_is_reported_with_what_is_accepted(text: str, words: str, write: Write) -> None:
    file = write(text)
    for reads_key_file in (True, False):
        (problem,) = problems(file=file, reads_key_file=reads_key_file)
        assert words.replace("FILE", str(file)) in problem


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("WORKERS", "0", "is '0'; it must be a whole number from 1 to 256"),
        ("WORKERS", "257", "is '257'; it must be a whole number from 1 to 256"),
        ("WORKERS", "", "is empty; unset it or give it a value"),
        ("DAILY_KEY", "", "is empty"),
        ("DEALS_PER_NIGHT", "20001", "from 1 to 20,000"),
        ("DAILY_FROM", "2025-12-31", "is '2025-12-31'; it must be a date from 2026-01-01 on, as YYYY-MM-DD"),
        ("DAILY_FROM", "2026-02-30", "is '2026-02-30': the date 2026-02-30 does not exist"),
        ("DAILY_FROM", "1767225600", "YYYY-MM-DD"),
        ("NIGHTLY_AT", "24:00", "HH:MM"),
        ("NIGHTLY_AT", "0:05", "HH:MM"),
        ("LOG_FORMAT", "xml", "is 'xml'; it must be text or json"),
        ("KEEP_DAYS", "1.5", "is '1.5'; it must be a whole number from 0 to 36,500"),
        ("HOOKS__ON_RUN", "notify", "is 'notify'; it must be a command as a list"),
        ("HOOKS__ON_RUN", '"notify"', "is '\"notify\"'; it must be a command as a list"),
        ("HOOKS__ON_RUN", '["", "x"]', "the name of the program is empty"),
        ("HOOKS__ON_RUN", "[" * 100_000, "it must be a command as a list"),
        ("LEVELS__HARD__DEALS_CAP", "0", "is '0'; it must be a whole number from 1 to 10,000,000"),
        ("LEVELS__HARDER__DEALS_CAP", "1", "did you mean FAIRWAY_LEVELS__HARD__DEALS_CAP?"),
        ("HOOKS__ON_RUNS", "[]", "did you mean FAIRWAY_HOOKS__ON_RUN?"),
        ("LEVELS", "{}", "unknown variable FAIRWAY_LEVELS; did you mean FAIRWAY_ACTIVE_LEVELS?"),
        ("WORKER", "2", "did you mean FAIRWAY_WORKERS?"),
        ("KEY", KEY, "did you mean FAIRWAY_DAILY_KEY?"),
    ],
)
def test_a_mistake_in_a_variable_is_reported_with_what_is_accepted(name: str, value: str, words: str) -> None:
    (problem,) = problems({f"FAIRWAY_{name}": value})
    assert f"FAIRWAY_{name}" in problem
    assert words in problem
    assert len(problem) < 300
    assert KEY not in problem


def test_all_mistakes_are_reported_at_once(write: Write) -> None:
    file = write("worker = 1\ndeals_cap = 0\n[hooks]\non_run = 5")
    found = problems({"FAIRWAY_WORKERS": "x", "FAIRWAY_Q": "1"}, file)
    for words in (
        f"{file}: unknown key worker;",
        f"{file}: deals_cap is 0;",
        f"{file}: hooks.on_run is 5;",
        "FAIRWAY_WORKERS is 'x'",
        "unknown variable FAIRWAY_Q",
    ):
        assert [words in problem for problem in found].count(True) == 1
    assert len(found) == 5


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # reading it would wait for ever
    (tmp_path / "binary").write_bytes(b"a = 1\nb = '\xff'\n")
    for name, words in (
        ("nowhere", "cannot read FILE: No such file or directory"),
        ("", "FILE is not a regular file"),
        ("pipe", "FILE is not a regular file"),
        ("binary", "FILE is not UTF-8 text"),
    ):
        file = tmp_path / name
        assert words.replace("FILE", str(file)) in problems(file=file)[0]


def test_a_dangling_link_to_a_settings_file_in_the_data_root_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "fairway.toml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="cannot read"):
        load(data=tmp_path)


def test_the_file_in_the_data_root_cannot_set_another_data_root(write: Write) -> None:
    (problem,) = problems(file=write('data = "/x"'), in_root=True)
    assert "data cannot be set in the data root itself" in problem
    assert configure({}, 1, write('data = "/x"')).settings.data == Path("/x")


# The secret key; more in test_secrets.py


def key_in(folder: Path, name: str, key: str) -> Path:
    place = folder / name
    place.write_text(key)
    place.chmod(0o600)
    return place


def test_the_key_cannot_be_set_in_a_settings_file_and_is_not_shown(write: Write) -> None:
    own = f'daily_key = "{KEY}"'
    for text in (own, f'hooks.on_run = ["a"]\n{own}', f"[hooks]\n{own}", f'daily_kee = "{KEY}"'):
        assert KEY not in "".join(problems(file=write(text)))
    (problem,) = problems(file=write(own))
    assert "cannot be set in a settings file; name a file that holds it with daily_key_file" in problem


def test_a_settings_file_can_name_the_key_file(write: Write, tmp_path: Path) -> None:
    key = key_in(tmp_path, "daily.key", KEY)
    file = write('daily_key_file = "daily.key"')
    configuration = configure({}, 1, file)
    assert configuration.settings.daily_key == bytes.fromhex(KEY)
    assert str(configuration.origin_of(("daily_key",))) == "daily_key_file"
    key.chmod(0o644)
    assert problems(file=file) == [
        f"{file}: daily_key_file: {key} is accessible to others (mode 644); run chmod 600 on it"
    ]


def test_a_key_overrides_an_earlier_one_whichever_way_it_is_given(write: Write, tmp_path: Path) -> None:
    key_in(tmp_path, "first", KEY)
    second = key_in(tmp_path, "second", OTHER)
    file = write('daily_key_file = "first"')
    by_file = configure({"FAIRWAY_DAILY_KEY_FILE": str(second)}, 1, file).settings
    assert (by_file.daily_key, by_file.daily_key_file) == (bytes.fromhex(OTHER), second)
    direct = configure({"FAIRWAY_DAILY_KEY": OTHER}, 1, file).settings
    assert (direct.daily_key, direct.daily_key_file) == (bytes.fromhex(OTHER), None)


def test_a_key_in_place_of_the_name_of_its_file_is_not_shown(write: Write) -> None:
    file = write(f'daily_key_file = "{KEY}"')
    for found in (
        problems(file=file),
        problems(file=file, reads_key_file=False),
        problems({"FAIRWAY_DAILY_KEY_FILE": KEY}),
    ):
        assert "this is a key; write the key to a file" in found[0]
        assert KEY not in "".join(found)


@pytest.mark.parametrize("key", ["secret", KEY[:-1], f"{KEY}0", KEY.replace("0", "g"), f" {KEY}", KEY + "\n"])
def test_a_key_that_is_not_64_hex_digits_is_rejected_and_never_shown(key: str) -> None:
    with pytest.raises(
        ConfigurationError, match="FAIRWAY_DAILY_KEY: the key must be exactly 64 hex"
    ) as caught:
        configure({"FAIRWAY_DAILY_KEY": key}, 1)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert key.strip() not in str(chain)
        chain = chain.__cause__ or chain.__context__


# Places


def test_the_data_root_is_that_of_the_settings_or_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_root(Settings(data=Path("here"))) == Path.cwd() / "here"
    assert data_root(Settings()) == checkout_root()
    monkeypatch.setattr("jobs.settings.load.checkout_root", lambda: None)
    with pytest.raises(ConfigurationError, match=r"--data DIR or set FAIRWAY_DATA"):
        data_root(Settings())


def test_a_checkout_has_a_project_file_and_a_marked_data_folder(tmp_path: Path) -> None:
    assert checkout_root(tmp_path) is None
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "data").mkdir()
    assert checkout_root(tmp_path) is None
    (tmp_path / "data" / ".fairway-root").touch()
    assert checkout_root(tmp_path) == tmp_path / "data"


def test_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_WORKERS", "9")
    assert environment()["FAIRWAY_WORKERS"] == "9"
    assert Settings() == Settings(workers=1)  # a model reads nothing by itself
