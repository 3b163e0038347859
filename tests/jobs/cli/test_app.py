"""Every command has help with an example; every error is one line and an exit code, without a traceback."""

import io
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.lock import root_lock
from jobs.terminal import outcome
from jobs.terminal.output import NAME, typed_name
from jobs.terminal.progress import shown_progress
from jobs.watch.logs import one_line
from pipeline.errors import (
    BusyError,
    CheckError,
    ConfigurationError,
    DamagedError,
    MissingError,
    StorageError,
)
from pipeline.store.root import open_root
from pipeline.store.text import MAX_MESSAGE
from solver.errors import FairwayError, LineError, UsageError
from solver.table.deal import parse_deal
from tests.support.command import ROOT, check_words, commands, done, fairway, files_of, loaded
from tests.support.queries import query_here

REFERENCE_DEAL = (
    "2C TH AC JC 7C | AD QS 7S 8H 5H | 3S 5D QD 6D TD | 2H 6S TS 6H 5C | 7D JH 4C 9C 7H | QH AH JD TC JS |"
    " 8D 8S KC 8C 2D | 2S | KD AS 4S KS 6C 9D 3H 3D 5S 3C QC 9H 4H 9S 4D KH"
)
TOO_LARGE = 2**63


def examples() -> list[tuple[str, str]]:
    found = []
    for name, command in commands():
        lines = [line.strip() for line in (loaded(command).help or "").splitlines()]
        found += [(name, line.removeprefix("Example: ")) for line in lines if line.startswith("Example: ")]
    return found


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_has_help_with_an_example(name: str) -> None:
    outcome = done(*name.split()[1:], "--help")
    assert outcome.text.startswith(f"Usage: {name}")
    assert f"Example: {NAME} " in outcome.text
    assert outcome.err == ""


@pytest.mark.parametrize(("name", "example"), examples())
def test_the_example_of_a_command_is_one_that_can_be_typed(name: str, example: str) -> None:
    words = shlex.split(example)
    assert words[0] == NAME
    assert example.startswith(name)
    check_words(words[1:])


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_a_command_is_listed_with_the_first_line_of_its_help(name: str, command: Any) -> None:
    assert command.help.splitlines()[0] == loaded(command).help.splitlines()[0]


def test_the_version_is_that_of_the_package() -> None:
    text = done("--version").text
    assert text.startswith("fairway ")
    assert len(text.split()) == 2


def test_what_to_try_next_can_be_typed_where_the_command_is_not_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "my venv" / NAME
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [str(program)])
    assert shlex.split(typed_name()) == [str(program)]
    monkeypatch.setenv("PATH", str(program.parent))
    assert typed_name() == NAME


BAD = [
    ([], "Missing command; see `fairway --help`"),
    (["pool"], "Missing command; see `fairway pool --help`"),
    (["par"], "No such command 'par'"),
    (["nightly", "--dat", "x"], "No such option: --dat"),
    (["nightly", "--date", "2026-02-30"], "the date 2026-02-30 does not exist"),
    (["nightly", "--date", "30.11.2026"], "'30.11.2026' is not a date; write it as YYYY-MM-DD"),
    (["nightly", "--date", "9989-12-31"], "--date 9989-12-31 is after"),
    (["nightly", "--workers", "0"], "'--workers': '0' is not a whole number from 1 to 256"),
    (["nightly", "--workers", "many"], "'many' is not a whole number from 1 to 256"),
    (["deal", "solve", "1", "--workers", "²"], "'²' is not a whole number"),
    (["deal", "solve", "1", "--workers", "9" * 5000], "is not a whole number"),
    (["deal", "show"], "give either a deal (a number, a notation or a date) or --file FILE"),
    (["deal", "show", "1", "--file", "x"], "give either a deal"),
    (["deal", "show", str(TOO_LARGE)], f"{TOO_LARGE}"),
    (["deal", "show", "9" * 5000], f".. is out of range; it must be from 0 to {TOO_LARGE - 1}"),
    (["deal", "show", "-1"], "No such option: -1"),
    (["deal", "show", "--", "-1"], "'-1' is neither a deal number"),
    (["deal", "show", "1.5"], "'1.5' is neither a deal number from 0 to 9223372036854775807 nor a deal"),
    (["deal", "show", ""], "0 cards; a deal has 52"),
    (["deal", "show", REFERENCE_DEAL[:-3]], "51 cards; a deal has 52"),
    (["deal", "show", REFERENCE_DEAL.replace("2C", "TH", 1)], "token 2, TH, is the same card as token 1"),
    (["deal", "show", REFERENCE_DEAL.replace("2C", "1X", 1)], "token 1, '1X', is not a card"),
    (["deal", "show", REFERENCE_DEAL.replace("| AD", "AD |", 1)], "column 1 has 6 cards, not 5"),
    (["deal", "show", REFERENCE_DEAL.replace("|", "", 1)], "7 bars; a deal has 8 or none"),
    (["deal", "show", "\n\x1b[31m |"], "not a deal"),
    (["deal", "show", "x " * 500_000], "the text has 1000000 characters"),
    (
        ["deal", "show", "1", "--rules", "blue"],
        "unknown rules 'blue'; the rules are relaxed, golf, dead_king",
    ),
    (["deal", "solve", "1", "--rules", "Golf"], "unknown rules 'Golf'"),
    (["deal", "rate", "--rules", "", "1"], "unknown rules ''"),
    (["deal", "solve", "--file", "/nowhere/deals.txt"], "cannot read /nowhere/deals.txt: No such file"),
    (["deal", "solve", "--file", "/"], "cannot read /: Is a directory"),
    (["pool", "show", "easy", "--limit", "0"], "--limit"),
    (["pool", "regenerate", "easy", "--size", "0"], "--size"),
    (["pool", "regenerate", "easy", "--from-number", str(TOO_LARGE)], "--from-number"),
    (["pool", "regenerate", "easy", "--fresh", "--from-number", "1"], "cannot be combined with"),
    (["pool", "export", "easy"], "-o"),
    (["daily", "publish", "--from", "2025-12-31"], "2025-12-31"),
    (["daily", "publish", "--from", "2026-03-01", "--to", "2026-02-01"], "there is no date between"),
    (["daily", "publish", "--to", "9000-01-01"], "--to 9000-01-01 is after"),
    (["daily", "publish", "--solutions", "never"], "'--solutions': 'never' is not one of"),
    (["daily", "show", "--date", "2025-12-31"], "there is no hole for 2025-12-31"),
    (["daily", "export", "--date", "0001-01-01"], "there is no hole for 0001-01-01"),
    (["nightly", "--data", ""], "'--data': the path is empty; give a directory"),
    (["daily", "show", "--date", "yesterday"], "'yesterday' is not a date"),
    (["verify", "--sample", "-1"], "--sample"),
    (["verify", "--sample", "1", "--all"], "cannot be combined with"),
    (["query"], "Missing argument"),
    (["query", "select 1", "--format", "xml"], "xml"),
    (["query", "select 1", "--format", "csv", "--json"], "cannot be combined with"),
    (["query", "select 1", "-o", "out.txt"], "give --format csv, json or parquet"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(case[0])[:60] for case in BAD])
def test_wrong_usage_is_one_line_and_exit_code_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRWAY_DATA", str(tmp_path / "root"))
    outcome = fairway(*arguments)
    assert words in outcome.complaint
    assert outcome.code == 2
    assert not (tmp_path / "root" / "catalog.json").exists()


LONG = "x" * 3000
OVERLONG = [
    (["deal", "show", "1", "--rules", LONG], "'; the rules are relaxed, golf, dead_king"),
    (["pool", "preview", LONG], "and not a command's"),
    (["deal", "show", "1", f"--{LONG}"], "; see `fairway deal show --help`"),
    ([LONG], "'; see `fairway --help`"),
    (["query", "select 1", "--format", LONG], "'parquet'; see `fairway query --help`"),
    (["deal", "solve", "--file", f"/{LONG}"], ": File name too long"),
    (["deal", "show", "1", *(f"y{n}" for n in range(1000))], "y999); see `fairway deal show --help`"),
]


@pytest.mark.parametrize(("arguments", "end"), OVERLONG, ids=[case[1] for case in OVERLONG])
def test_an_overlong_error_loses_its_middle_and_not_what_to_do(arguments: list[str], end: str) -> None:
    outcome = fairway(*arguments)
    assert outcome.complaint.endswith(end)
    assert len(outcome.complaint) <= MAX_MESSAGE + 10
    assert len(max(outcome.complaint.split(), key=len)) < 200


def test_a_settings_file_with_an_overlong_key_has_short_problems(tmp_path: Path) -> None:
    file = tmp_path / "fairway.toml"
    file.write_text(f"{LONG} = 1\n[hooks]\n{LONG} = 1\n")
    outcome = fairway("deal", "show", "1", "--config", file)
    assert outcome.complaint.endswith("; did you mean hooks.on_failure?")
    assert len(outcome.complaint) < 600
    assert len(fairway("config", "check", file).text) < 600


ESCAPES = "\x1b]0;owned\x07\x9b31m\u202e"


def test_an_error_shows_unprintable_characters_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query_here(monkeypatch)
    open_root(tmp_path, create=True)
    words = ["query", f"select error('{ESCAPES}' || chr(10) || chr(13))", "--data", str(tmp_path)]
    assert fairway(*words).complaint == r"Invalid Input Error: \x1b]0;owned\x07\x9b31m\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        ["verify"],
        ["config", "show"],
        ["query", f"select 1 as \"{ESCAPES}\", '{ESCAPES}'"],
        ["query", "select 1", "-o", f"/nowhere/{ESCAPES}.csv"],
    ],
    ids=lambda words: words[0],
)
def test_a_printed_path_is_escaped(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query_here(monkeypatch)
    root = tmp_path / ESCAPES
    open_root(root, create=True)
    (root / "daily").mkdir()
    (root / "daily" / f"{ESCAPES}.json").touch()
    (root / "fairway.toml").write_text("deals_per_night = 1\n")
    outcome = fairway(*arguments, "--data", root)
    printed = f"{outcome.text}{outcome.err}"
    assert "owned" in printed
    assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_the_name_of_a_file_is_escaped_on_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    with shown_progress() as progress:
        progress.update(f"[red]{ESCAPES}.jsonl", 1, 2)
    assert r"[red]\x1b]0;owned\x07\x9b31m\u202e.jsonl" in terminal.getvalue()


READERS = [
    ["pool", "status"],
    ["pool", "show", "easy"],
    ["pool", "regenerate", "easy", "--size", "1"],
    ["pool", "export", "easy", "-o", "/tmp/nowhere"],
    ["round", "easy", "--number", "1"],
    ["scorecard", "easy", "--number", "1", "--scores", "3"],
    ["scorecard", "--daily", "2026-11-30", "--line", "D"],
    ["query", "select 1"],
    ["daily", "show"],
    ["daily", "export"],
    ["verify"],
]
WRITERS = [["nightly"], ["daily", "publish"], ["serve"]]


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_a_reader_of_a_root_that_is_not_there_says_how_to_make_it(
    arguments: list[str], tmp_path: Path
) -> None:
    outcome = fairway(*arguments, "--data", tmp_path / "root")
    assert "there is no data root at" in outcome.complaint
    assert "`fairway nightly` makes one there" in outcome.complaint
    assert outcome.code == 78
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [*READERS, *WRITERS], ids=" ".join)
def test_a_folder_that_holds_something_else_is_refused_and_left_alone(
    arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    outcome = fairway(*arguments, "--data", tmp_path)
    assert "is not a data root and contains other files (thesis.tex)" in outcome.complaint
    assert outcome.code == 78
    assert files_of(tmp_path) == {"thesis.tex": b"precious"}


@pytest.mark.parametrize("arguments", WRITERS, ids=" ".join)
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_exits_with_73(arguments: list[str], tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    outcome = fairway(*arguments, "--data", tmp_path / "root")
    assert "cannot create" in outcome.complaint
    assert outcome.code == 73


@pytest.mark.parametrize("variable", ["FAIRWAY_DAILY_KEY", "FAIRWAY_WORKERS", "FAIRWAY_DEALS_PER_NIGHT"])
@pytest.mark.parametrize("arguments", [["nightly"], ["deal", "show", "1"], ["daily", "show"]], ids=" ".join)
def test_a_bad_variable_is_named_with_78(
    arguments: list[str], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "not-a-value")
    outcome = fairway(*arguments)
    assert variable in outcome.complaint
    assert ("not-a-value" in outcome.err) == (variable != "FAIRWAY_DAILY_KEY")
    assert outcome.code == 78


@pytest.mark.parametrize(
    "arguments",
    [["nightly"], ["daily", "publish"], ["pool", "regenerate", "easy", "--size", "1"]],
    ids=" ".join,
)
def test_a_second_run_names_the_holder_and_exits_with_75(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / ".fairway-root").write_bytes((ROOT / "data" / ".fairway-root").read_bytes())
    before = files_of(tmp_path)
    with root_lock(tmp_path, outcome_time()):
        outcome = fairway(*arguments, "--data", tmp_path)
    assert f"process {os.getpid()} since 2026-11-30T00:05:00+00:00" in outcome.complaint
    assert outcome.code == 75
    assert files_of(tmp_path).keys() - {".lock"} == before.keys()


def outcome_time() -> Any:
    from datetime import UTC, datetime

    return datetime(2026, 11, 30, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (LineError(0, "1", "D"), 2),
        (CheckError("x"), 1),
        (DamagedError("x"), 1),
        (MissingError("x"), 1),
        (FairwayError("x"), 1),
        (StorageError("x"), 73),
        (BusyError("x"), 75),
        (ConfigurationError("x"), 78),
        (OSError(28, "No space left on device", "out.csv"), 73),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_end_has_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert outcome.ended(fail) == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_deal_error_is_reported_with_all_its_faults_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome.ended(lambda: parse_deal("1X\n2Y")) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert all(word in err for word in ("1X", "2Y", "2 cards"))


def test_what_is_not_printable_is_shown_escaped() -> None:
    assert one_line("a\nb\x1b[31m\u2028c\udcff") == "a b\\x1b[31m c\\udcff"


def test_a_fault_of_the_program_is_not_hidden() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outcome.ended(fail)
