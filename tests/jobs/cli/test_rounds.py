"""`fairway round` and `fairway scorecard`: their text, their JSON, and the input they refuse."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from jobs.cli import rounds
from pipeline.play.rounds import Round, round_of
from pipeline.play.scorecard import played_daily
from pipeline.pools.catalog import load_catalog
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from solver.search.exact import solve
from solver.table.deal import parse_deal
from solver.table.rules import RULES
from tests.support.command import done, fairway, files_of
from tests.support.pools import regenerated, with_nights
from tests.support.reference import REFERENCE


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> LocalStorage:
    """Pools of deals that have not been solved, in two nights; no test changes them."""
    root = open_root(tmp_path_factory.mktemp("rounds") / "root", create=True)
    for level in ("easy", "medium"):
        with_nights(root, (30, 20), level)
    return root


def first_round(storage: LocalStorage, level: str = "medium") -> Round:
    return round_of(storage, load_catalog(storage).pool(level), 1)


def document(*arguments: object) -> Any:
    return json.loads(done(*arguments).out)


@pytest.mark.parametrize("command", ["round", "scorecard"])
def test_the_example_in_the_help_works_on_a_new_pool(storage: LocalStorage, command: str) -> None:
    example = next(line for line in done(command, "--help").text.splitlines() if "Example: " in line)
    done(*shlex.split(example.partition("Example: ")[2])[1:], "--data", storage.root)


def test_a_round_is_listed_as_text(storage: LocalStorage) -> None:
    before = files_of(storage.root)
    lines = done("round", "medium", "--number", 1, "--data", storage.root).text.splitlines()
    found = first_round(storage)
    assert lines[0] == (
        f"round 1 of level medium, generation 1: par 36, best score {sum(h.best_score for h in found.holes)}"
    )
    assert [line.split() for line in lines[4:]] == [
        [str(value) for value in (hole.hole, hole.deal_number, hole.par, hole.best_score)]
        for hole in found.holes
    ]
    assert files_of(storage.root) == before


def test_a_round_is_printed_as_json(storage: LocalStorage) -> None:
    shown = document("round", "easy", "--number", 1, "--json", "--data", storage.root)
    found = first_round(storage, "easy")
    holes = shown.pop("holes")
    assert shown == {
        "level": "easy",
        "generation": 1,
        "round": 1,
        "course": 1,
        "rules": "relaxed",
        "par": 28,
        "best_score": found.best_score,
    }
    assert [list(hole) for hole in holes] == [["hole", "deal_number", "deal", "par", "best_score"]] * 9
    assert [hole["deal_number"] for hole in holes] == [str(hole.deal_number) for hole in found.holes]
    assert [hole["deal"] for hole in holes] == [hole.deal for hole in found.holes]


def test_rounds_are_those_of_the_current_generation(tmp_path: Path) -> None:
    root = open_root(tmp_path / "root", create=True)
    with_nights(root, (30,))
    command = ("round", "medium", "--number", 1, "--json", "--data", root.root)
    first = document(*command)
    regenerated(root, 30, first=500)
    second = document(*command)
    assert (first["generation"], second["generation"]) == (1, 2)
    assert not {hole["deal"] for hole in first["holes"]} & {hole["deal"] for hole in second["holes"]}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["medium", "--number", "9999"], 1, "level medium has no round 9999 yet: its pool is enough for"),
        (
            ["hard", "--number", "1"],
            1,
            "enough for 0; the next one needs more deals: 4 of par 4, 5 of par 5",
        ),
        (["medium", "--number", "0"], 2, "'0' is not a whole number from 1 to"),
        (["medium"], 2, "Missing option '--number'"),
        (
            ["daily", "--number", "1"],
            2,
            "unknown level 'daily'; the levels with a pool are easy, medium",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_round_that_does_not_exist_gives_an_error_of_one_line(
    storage: LocalStorage, arguments: list[str], code: int, words: str
) -> None:
    outcome = fairway("round", *arguments, "--data", storage.root)
    assert words in outcome.complaint
    assert outcome.code == code


def card(storage: LocalStorage, *arguments: object, stdin: bytes = b"") -> str:
    words = ("scorecard", "medium", "--number", 1, "--data", storage.root, *arguments)
    return done(*words, stdin=stdin).text


FINISHED = """\
round 1 of level medium, generation 1

hole       1     2     3     4     5     6     7     8     9   total
par        3     5     3     5     4     5     3     5     3      36
score     (2)    5    [4]   (3)  [35]   [6]    3    (4)   [5]     67
running   -1    -1     E    -2   +29   +30   +30   +29   +31     +31

Eagle         hole 4
Birdie        holes 1, 8
Par           holes 2, 7
Bogey         holes 3, 6
Double bogey  hole 9
+31           hole 5
not won: 67 (+31) on a par of 36
"""

IN_PROGRESS = """\
round 1 of level medium, generation 1

hole       1     2     3     4     5     6     7     8     9   total
par        3     5     3     5     4     5     3     5     3      36
score      3    (0)                                                3
running    E    -5                                                -5

-5            hole 2
Par           hole 1
2 of 9 holes played: 3 (-5)
"""


def test_a_finished_card_is_laid_out_as_in_golf(storage: LocalStorage) -> None:
    assert card(storage, "--scores", "2 5 4 3 35 6 3 4 5") == FINISHED


def test_a_card_in_progress_has_room_for_the_other_holes(storage: LocalStorage) -> None:
    assert card(storage, "--scores", " 3  0 ") == IN_PROGRESS
    assert "0 of 9 holes played: 0 (E)" in card(storage, "--scores", "")


def test_a_round_at_par_is_won_and_the_widest_scores_fit(storage: LocalStorage) -> None:
    assert card(storage, "--scores", "3 5 3 5 4 5 3 5 3").endswith("won: 36 (E) on a par of 36\n")
    best = [hole.best_score for hole in first_round(storage).holes]
    lines = card(storage, "--scores", " ".join(map(str, best))).splitlines()
    assert [int(cell.strip("()")) for cell in lines[4].split()[1:]] == [*best, sum(best)]
    assert {len(line) for line in lines[2:6]} == {len(lines[2])}


def test_a_card_is_printed_as_json(storage: LocalStorage) -> None:
    words = ("scorecard", "medium", "--number", 1, "--data", storage.root, "--json")
    shown = document(*words, "--scores", "2 5 4 3 35 6 3 4 5")
    assert [hole["score"] for hole in shown["holes"]] == [2, 5, 4, 3, 35, 6, 3, 4, 5]
    assert [hole["running"] for hole in shown["holes"]] == [-1, -1, 0, -2, 29, 30, 30, 29, 31]
    assert [hole["mark"] for hole in shown["holes"]][:3] == ["circle", None, "box"]
    assert (shown["total"], shown["against_par"], shown["won"], shown["played"]) == (67, 31, False, 9)
    listed = document("round", "medium", "--number", 1, "--data", storage.root, "--json")
    assert [shown[key] for key in listed if key != "holes"] == [
        listed[key] for key in listed if key != "holes"
    ]


def test_lines_are_read_from_a_file_one_per_hole(storage: LocalStorage, tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("# my round\nDD\n-\n# the third\nDDD\n\n\n")
    expected = card(storage, "--scores", "35 35 35")
    assert card(storage, "--lines", file) == expected
    assert card(storage, "--lines", "-", stdin=file.read_bytes()) == expected


def test_the_json_of_a_card_says_what_was_cleared(storage: LocalStorage) -> None:
    words = ("scorecard", "medium", "--number", 1, "--data", storage.root, "--json")
    line = solve(parse_deal(first_round(storage).holes[3].deal), RULES["golf"]).line
    shown = json.loads(done(*words, "--lines", "-", stdin=f"DD\n-\nD\n{line}\n".encode()).out)
    assert [hole["score"] for hole in shown["holes"]] == [35, 35, 35, -2, *[None] * 5]
    assert [hole["cleared"] for hole in shown["holes"]] == [False, False, False, True, *[None] * 5]
    shown = document(*words, "--scores", "35 0 3")
    assert [hole["cleared"] for hole in shown["holes"]] == [False, True, False, *[None] * 6]


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        ([], b"", "give a level for a scorecard, or --daily DATE for a text to share"),
        (["medium"], b"", "a scorecard needs --number N and either --scores or --lines"),
        (["medium", "--number", 1], b"", "and either --scores or --lines"),
        (["medium", "--scores", "3"], b"", "needs --number N"),
        (["medium", "--number", 1, "--scores", "3", "--lines", "-"], b"", "and either --scores or --lines"),
        (["medium", "--number", 1, "--scores", "3", "--line", "D"], b"", "and either --scores or --lines"),
        (["medium", "--daily", "2026-11-30", "--line", "D"], b"", "--daily cannot be combined with"),
        (["--daily", "2026-11-30"], b"", "--daily needs --line"),
        (["--daily", "2026-11-30", "--line", "D", "--scores", "3"], b"", "--daily cannot be combined with"),
        (["medium", "--number", 1, "--scores", "3 four"], b"", "hole 2: 'four' is not a score; write"),
        (["medium", "--number", 1, "--scores", "3,4"], b"", "hole 1: '3,4' is not a score"),
        (["medium", "--number", 1, "--scores", "3 36"], b"", "hole 2: 36 is not a score; scores are -16"),
        (["medium", "--number", 1, "--scores", "0 " * 10], b"", "more scores than holes"),
        (["medium", "--number", 1, "--scores", "-16"], b"", "hole 1: -16 is better than"),
        (["medium", "--number", 1, "--lines", "-"], b"D\nDx\n", "hole 2: move 2 of the line, 'x', is"),
        (["medium", "--number", 1, "--lines", "-"], b"D\n" * 10, "more scores than holes"),
        (["medium", "--number", 1, "--lines", "-"], b"\xff", "is not UTF-8"),
        (["medium", "--number", 1, "--lines", "-"], b"D\n\nDD\n", "line 2 is blank; write - for a hole"),
        (["medium", "--number", 1, "--lines", "/nowhere/x"], b"", "cannot read /nowhere/x: No such file"),
        (["par", "--number", 1, "--scores", "3"], b"", "unknown level 'par'"),
    ],
    ids=lambda value: " ".join(map(str, value))[:70] if isinstance(value, list) else "",
)  # fmt: skip
def test_invalid_scores_give_an_error_of_one_line(
    storage: LocalStorage, arguments: list[object], stdin: bytes, words: str
) -> None:
    outcome = fairway("scorecard", *arguments, "--data", storage.root, stdin=stdin)
    assert words in outcome.complaint
    assert outcome.code == 2


def test_a_round_that_does_not_exist_has_no_card(storage: LocalStorage) -> None:
    outcome = fairway("scorecard", "medium", "--number", 99, "--scores", "3", "--data", storage.root)
    assert "level medium has no round 99 yet" in outcome.complaint
    assert outcome.code == 1


def test_a_text_to_share_is_printed_for_a_daily_hole(made_root: Path) -> None:
    words = ("scorecard", "--daily", "2026-11-30", "--data", made_root, "--line")
    line = json.loads((REFERENCE / "solution-2026-11-30.json").read_bytes())["line"]
    played = played_daily(json.loads((REFERENCE / "daily-2026-11-30.json").read_bytes()), line)
    assert done(*words, line).text == f"{played.text(played.bar)}\n"
    assert document(*words, line, "--json") == played.document()
    assert played.result == "cleared, 0"
    text = done(*words, line[:-1]).text
    assert text.splitlines()[:2] == ["Fairway Daily hole 334, 2026-11-30", "unfinished, 1 left"]
    assert done(*words, "").text == "Fairway Daily hole 334, 2026-11-30\nunfinished, 35 left\n\n"
    outcome = fairway(*words, "DD1")
    assert outcome.complaint == "move 3 of the line, '1', is not legal; legal there: 7, D"
    assert outcome.code == 2


def test_blocks_that_cannot_be_printed_become_strokes(
    made_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "can_carry", lambda text: text.isascii())
    text = done("scorecard", "--daily", "2026-11-30", "--data", made_root, "--line", "DDD").text
    assert text.splitlines()[2] == "..."


def test_a_hole_that_is_not_published_cannot_be_shared(made_root: Path) -> None:
    for day, code, words in (
        ("2026-11-01", 1, "the Daily hole of 2026-11-01 is not published"),
        ("2025-12-31", 2, "there is no hole for 2025-12-31"),
    ):
        outcome = fairway("scorecard", "--daily", day, "--line", "D", "--data", made_root)
        assert words in outcome.complaint
        assert outcome.code == code
