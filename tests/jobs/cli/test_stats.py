"""`fairway stats` from the outside: statistics of results, invalid results, and charts."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jobs.api.reading import Line
from jobs.api.results import parse_result
from pipeline.deals.shuffle import deal_numbered
from pipeline.play.rounds import round_of
from pipeline.pools.catalog import load_catalog
from pipeline.store.root import open_root
from solver.errors import UsageError
from solver.table.rules import RULES
from tests.support.command import PROGRAM, ROOT, done, fairway, files_of, spawned
from tests.support.holes import random_line
from tests.support.pools import with_nights
from tests.support.publishing import ALL_OVER, DAYS, site_in

BEST_LINE = (
    "D6231D3535377D61DDD552412413D1642574DD7647D6D2"  # of deal 617 under golf; nothing is solved on import
)
SOLVED = {"deal": 617, "rules": "golf", "line": BEST_LINE}
DAY = DAYS[0].isoformat()

Result = dict[str, object]


def lines(*results: Result) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in results)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with Daily holes and a pool whose first round exists; its deals are not rated."""
    folder = tmp_path_factory.mktemp("stats") / "root"
    site = site_in(open_root(folder, create=True).root)
    site.publish(now=ALL_OVER)
    with_nights(site.root, [40])
    return folder


def found(root: Path, *results: Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        done("stats", "-", "--data", root, "--json", stdin=lines(*results)).out
    )
    return document


def player(root: Path, *results: Result) -> dict[str, Any]:
    page: dict[str, Any] = found(root, *results)["player"]
    return page


def test_results_may_be_given_in_every_way(root: Path) -> None:
    notation = deal_numbered(617).notation
    page = player(
        root,
        SOLVED | {"seconds": 95.5, "mood": "unknown fields are ignored"},
        {"deal": "617", "rules": "golf", "score": 4, "seconds": 20},
        {"deal": notation, "rules": "golf", "line": "D6", "score": 34},
        {"deal": notation.replace(" | ", " ").lower(), "rules": "dead_king", "line": ""},
        {"date": DAY, "score": 5},
        {"date": DAYS[1].isoformat(), "score": 5, "rules": "golf"},
        {"date": DAYS[3].isoformat(), "line": "D", "seconds": None},
    )
    assert page | {"against_par": 0, "by_par": []} == {
        "holes": 7,
        "cleared": 1,
        "rounds_played": 0,
        "rounds_won": 0,
        "best_round": None,
        "against_par": 0,
        "by_par": [],
        "longest_run": max(map(len, BEST_LINE.split("D"))),
        "best_seconds": 95.5,
        "fewest_moves": len(BEST_LINE),
        "dailies": {"dates": 3, "longest_streak": 2, "last_streak": 1, "last_date": DAYS[3].isoformat()},
        "dailies_cleared": {"dates": 0, "longest_streak": 0, "last_streak": 0, "last_date": None},
    }
    assert sum(row["holes"] for row in page["by_par"]) == 7


def test_dailies_played_and_cleared_are_counted_with_a_streak_of_each(root: Path) -> None:
    line = {day: json.loads((root / f"daily/solutions/{day}.json").read_bytes())["line"] for day in DAYS}
    results: list[Result] = [
        {"date": DAYS[0].isoformat(), "line": line[DAYS[0]]},
        {"date": DAYS[1].isoformat(), "line": line[DAYS[1]]},
        {"date": DAYS[1].isoformat(), "line": line[DAYS[1]][:-1]},  # played again, and not cleared
        {"date": DAYS[2].isoformat(), "line": line[DAYS[2]][:-1]},
        {"date": DAYS[3].isoformat(), "score": 0},
    ]
    page = player(root, *results)
    last = DAYS[3].isoformat()
    assert page["dailies"] == {"dates": 4, "longest_streak": 4, "last_streak": 4, "last_date": last}
    assert page["dailies_cleared"] == {"dates": 3, "longest_streak": 2, "last_streak": 1, "last_date": last}
    text = done("stats", "-", "--data", root, stdin=lines(*results)).text
    assert f"dailies played   4 dates; longest streak 4, latest 4 (to {last})\n" in text
    assert f"dailies cleared  3 dates; longest streak 2, latest 1 (to {last})\n" in text


def test_a_round_counts_once_all_its_holes_are_played(root: Path) -> None:
    storage = open_root(root, create=False)
    one = round_of(storage, load_catalog(storage).pool("medium"), 1)
    card: list[Result] = [{"deal": h.deal_number, "rules": "golf", "score": 20} for h in one.holes]
    assert player(root, *card[:8])["rounds_played"] == 0
    page = player(root, *reversed(card))
    assert (page["rounds_played"], page["rounds_won"]) == (1, 0)
    assert page["best_round"] == {
        "level": "medium",
        "round": 1,
        "score": 180,
        "par": 36,
        "against_par": 144,
    }


def test_the_calibration_has_level_par_and_verdict(root: Path) -> None:
    rows = found(root, *[SOLVED] * 40, {"date": DAY, "score": 5})["calibration"]
    assert [(row["level"], row["results"]) for row in rows] == [("medium", 40), ("daily", 1)]
    medium = rows[0]
    assert (medium["par"], medium["verdict"], medium["players_par"]) == (3, "easier than rated", 3)
    assert medium["score"] == {"mean": -5.0, "sd": 0.0, "normal_95": [-5.0, -5.0]}
    assert medium["steady_mean"] == pytest.approx(2.361, abs=5e-4)
    assert medium["apart"]["mean"] == pytest.approx(-5 - medium["steady_mean"])
    assert medium["at_par"]["share"] == 1.0
    assert 0.9 < medium["at_par"]["wilson_95"][0] < medium["at_par"]["wilson_95"][1] == 1.0
    assert rows[1]["verdict"] == "too few results"


def test_one_result_has_no_spread(root: Path) -> None:
    (row,) = found(root, {"date": DAY, "score": 5})["calibration"]
    for figure in ("score", "apart"):
        assert (row[figure]["sd"], row[figure]["normal_95"]) == (None, None)
    assert row["apart"]["mean"] == 5 - row["steady_mean"]


def test_times_are_shown_and_a_zero_has_no_sign(root: Path) -> None:
    def best(*seconds: float) -> str:
        results = [SOLVED | {"seconds": each} for each in seconds]
        text = done("stats", "-", "--data", root, stdin=lines(*results)).text
        return next(line for line in text.splitlines() if line.startswith("best time"))

    assert best(1_234_567.5) == "best time        1,234,567.5 s"
    assert best(-0.0, 3) == "best time        0 s"


def test_the_text_contains_the_statistics_and_both_tables(root: Path) -> None:
    results = [SOLVED | {"seconds": 61.5}] * 40 + [{"date": DAY, "score": 5}]
    text = done("stats", "-", "--data", root, stdin=lines(*results)).text
    for words in (
        "holes played     41, 40 of them cleared",
        "rounds played    0, 0 of them won",
        "best time        61.5 s",
        f"dailies played   1 date; longest streak 1, latest 1 (to {DAY})",
        "dailies cleared  0 dates\n",
        "easier than rated",
        "too few results",
        "100.0 % (91.2 % to 100.0 %)",
    ):
        assert words in text


def test_no_results_are_shown_as_none(root: Path) -> None:
    page = found(root)
    assert page["player"]["holes"] == 0
    assert page["calibration"] == []
    assert "holes played     0, 0 of them cleared" in done("stats", "-", "--data", root).text


def test_several_files_are_read_in_turn_with_comments_and_blank_lines(root: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_bytes(b"# mine\n\n" + lines(SOLVED) + b"\n" + lines({"date": DAY, "score": 5}))
    second.write_bytes(b"\xef\xbb\xbf" + lines({"date": DAYS[1].isoformat(), "score": 5}))
    outcome = done("stats", first, second, "--data", root, "--json")
    assert json.loads(outcome.out)["player"]["holes"] == 3
    assert f"{second}: 1 of 1" in outcome.err


def test_the_number_of_workers_changes_nothing(root: Path) -> None:
    dice = random.Random(2)
    results: list[Result] = []
    for number in range(60):
        rules = dice.choice(list(RULES.values()))
        line = random_line(deal_numbered(number), rules, dice, 0.1)
        results.append({"deal": number, "rules": rules.name, "line": line})
    ways = [
        done("stats", "-", "--data", root, "--json", "--workers", n, stdin=lines(*results)) for n in (1, 3)
    ]
    assert ways[0].out == ways[1].out


WRONG = [
    (b"{", "is not a JSON document"),
    (b"[1]", "does not contain a JSON object"),
    (b'{"date": "2026-11-27", "score": 5, "score": 6}', "the key 'score' occurs twice"),
    (b'{"date": "2026-11-27", "score": NaN}', "NaN is not a JSON number"),
    (b'{"score": 3}', "give either 'deal' (a number or a notation) or 'date'"),
    (b'{"deal": 1, "date": "2026-11-27", "score": 3}', "give either"),
    (b'{"deal": 1, "score": 3}', "'deal' is given without 'rules'"),
    (b'{"deal": 1.0, "rules": "golf", "score": 3}', "'deal' is 1.0; it must be a number, or a notation"),
    (b'{"deal": true, "rules": "golf", "score": 3}', "'deal' is True; it must be"),
    (b'{"deal": -1, "rules": "golf", "score": 3}', "'-1' is neither a deal number"),
    (b'{"deal": 9223372036854775808, "rules": "golf", "score": 3}', "is out of range"),
    (b'{"deal": "2C 3C", "rules": "golf", "score": 3}', "2 cards; a deal has 52"),
    (b'{"deal": 1, "rules": "blue", "score": 3}', "unknown rules 'blue'; the rules are relaxed"),
    (b'{"deal": 1, "rules": 1, "score": 3}', "'rules' is 1; it must be text"),
    (b'{"date": "27.11.2026", "score": 3}', "'27.11.2026' is not a date; write it as YYYY-MM-DD"),
    (b'{"date": 20261127, "score": 3}', "'date' is 20261127; it must be text, as YYYY-MM-DD"),
    (b'{"date": "2025-12-31", "score": 3}', "there is no hole for 2025-12-31"),
    (b'{"date": "2026-11-27", "rules": "relaxed", "score": 3}', "Daily holes are played by the rules golf"),
    (b'{"date": "2026-11-27"}', "neither 'line' nor 'score'"),
    (b'{"date": "2026-11-27", "score": "3"}', "'score' is '3'; it must be a whole number from -16 to 35"),
    (b'{"date": "2026-11-27", "score": 36}', "'score' is 36; it must be"),
    (b'{"date": "2026-11-27", "score": true}', "'score' is True; it must be"),
    (b'{"date": "2026-11-27", "line": 1}', "'line' is 1; it must be text"),
    (b'{"date": "2026-11-27", "line": "8"}', "move 1 of the line, '8', is not legal; legal there: "),
    (b'{"date": "2026-11-27", "score": -16}', "a score of -16 is not possible"),
    (
        b'{"date": "2026-11-27", "score": 3, "seconds": -1}',
        "'seconds' is -1; it must be a number from 0 to 1,000",
    ),
    (b'{"date": "2026-11-27", "score": 3, "seconds": 1e999}', "'1e999' is too large a number"),
    (b'{"date": "2026-11-27", "score": 3, "seconds": 1%s}' % (b"0" * 400), ".. ; it must be"),
    (b'{"date": "2026-11-27", "score": 3, "seconds": 1000000001}', "from 0 to 1,000,000,000"),
    (b'{"date": "2026-11-27", "score": 3, "seconds": "90"}', "'seconds' is '90'; it must be"),
    (
        b'{"date": "2026-11-27", "note": "%s"}' % (b"x" * 4000),
        "longer than 4000 bytes, so it is not a result",
    ),
    (b'{"date": "2026-11-27", "note": "\xff"}', "0xff, is not UTF-8"),
]


@pytest.mark.parametrize(("line", "words"), WRONG)
def test_an_invalid_line_is_reported_with_its_number(root: Path, line: bytes, words: str) -> None:
    outcome = fairway("stats", "-", "--data", root, stdin=lines(SOLVED) + b"\n" + line + b"\n")
    assert outcome.complaint.startswith("standard input, line 3")
    assert words.replace(".. ;", "..;") in outcome.complaint
    assert outcome.code == 2


def complaint(text: str) -> str:
    """Return the error for a line, or an empty text if it is a result."""
    try:
        result = parse_result(Line(1, text), "here")
    except UsageError as error:
        return str(error)
    assert result.line is not None or result.score is not None
    return ""


def test_any_line_is_a_result_or_gives_an_error_of_one_line() -> None:
    dice = random.Random(4)
    fields = ["deal", "date", "rules", "line", "score", "seconds", "mood"]
    values: list[object] = [
        None,
        True,
        1,
        -1,
        617,
        1.5,
        60,
        1e300,
        "",
        "617",
        "golf",
        "2026-11-27",
        "D",
        [],
        {},
        "\ud800",
    ]
    texts = [
        json.dumps({name: dice.choice(values) for name in dice.sample(fields, dice.randrange(1, 7))})
        for _ in range(3000)
    ]
    complaints = {complaint(text) for text in texts}
    assert "" in complaints
    assert all(each.startswith("here, line 1") and "\n" not in each for each in complaints if each)


def test_a_daily_that_is_not_published_exits_with_1(root: Path) -> None:
    outcome = fairway("stats", "-", "--data", root, stdin=lines({"date": "2026-01-01", "score": 3}))
    assert "standard input, line 1: the Daily hole of 2026-01-01 is not published" in outcome.complaint
    assert outcome.code == 1


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        ([], "Missing argument", 2),
        (["/nowhere/results.jsonl"], "cannot read /nowhere/results.jsonl", 2),
        (["-", "/"], "cannot read /: Is a directory", 2),
        (["-", "-o", "plot.pdf"], "plot.pdf does not end in .svg or .png", 2),
        (["-", "-o", "-"], "- does not end in .svg or .png", 2),
        (["-", "-o", "/nowhere/plot.svg"], "cannot write /nowhere/plot.svg", 73),
        (["-", "-o", "plot.svg"], "there are no results to draw", 2),
    ],
)
def test_wrong_usage(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = fairway("stats", *arguments, "--data", root)
    assert words in outcome.complaint
    assert outcome.code == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.system
def test_a_plot_is_not_written_over_results_or_into_a_data_root(root: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.svg"
    results.write_bytes(lines(SOLVED))
    over = fairway("stats", results, "-o", results, "--data", root)
    assert "is one of the input files" in over.complaint
    with (
        results.open("rb") as stream,
        spawned("stats", "-", "-o", results, "--data", root, stdin=stream) as run,
    ):
        assert "is one of the input files" in run.communicate()[1]
    inside = fairway("stats", results, "-o", root / "daily" / "plot.svg", "--data", root)
    assert "is in the data root" in inside.complaint
    assert results.read_bytes() == lines(SOLVED)


@pytest.mark.system
@pytest.mark.parametrize(
    ("name", "variables"),
    [
        pytest.param("plot.svg", {"HOME": "home"}, marks=pytest.mark.soak),
        ("plot.png", {"HOME": "/nowhere", "MPLCONFIGDIR": "/nowhere", "MPLBACKEND": "x"}),
    ],
    ids=["svg", "png without a home"],
)
def test_a_plot_is_the_same_wherever_it_is_drawn_and_leaves_no_trace(
    root: Path, tmp_path: Path, name: str, variables: dict[str, str]
) -> None:
    results, here, there = lines(*[SOLVED] * 30), tmp_path / f"here-{name}", tmp_path / f"there-{name}"
    done("stats", "-", "--data", root, "-o", here, stdin=results)
    work = tmp_path / "work"
    for folder in (work, work / "home", work / "temporary"):
        folder.mkdir()
    (work / "matplotlibrc").write_text("font.size: 30\nno.such.setting: 1\n")
    before = sorted(work.rglob("*"))
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, "stats", "-", "-o", there, "--data", root],
        cwd=work,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "FAIRWAY_CACHE": os.environ["FAIRWAY_CACHE"],
            "TMPDIR": str(work / "temporary"),
            **variables,
        },
        input=results,
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"standard input: 1\n")
    assert there.read_bytes() == here.read_bytes()
    assert sorted(work.rglob("*")) == before


def test_the_data_root_is_only_read(root: Path, tmp_path: Path) -> None:
    before = files_of(root)
    done("stats", "-", "--data", root, "-o", tmp_path / "plot.png", stdin=lines(SOLVED))
    assert files_of(root) == before
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
