"""Deals shown, solved and rated: one alone for people or programs, many as lines in the order they came."""

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from jobs.api.reading import Line, blocks_of, parse_given
from jobs.terminal import files
from jobs.terminal.drawing import draw_table
from jobs.terminal.files import line_count
from pipeline.deals.shuffle import deal_numbered
from solver.cards import CARD_NAMES
from solver.errors import UsageError
from solver.players.difficulty import difficulty_of
from solver.players.distribution import TOTAL_MASS
from solver.players.varied import VARIED
from solver.table.deal import Deal, parse_deal
from solver.table.moves import start
from solver.table.replay import replay
from solver.table.rules import RULES, rules_named
from tests.support.command import done, fairway

SOLUTION_KEYS = ["deal", "rules", "cleared", "best_score", "line", "draws", "positions"]
RATING_KEYS = ["deal", "rules", "par", "steady_mean", "steady_sd", "steady_clear_rate"]
RATING_KEYS += ["steady_p10", "steady_p50", "steady_p90", "steady_scores", "clear_chance", "difficulty"]
CLEARED, NOT_CLEARED = 2, 1  # deal numbers, under golf


def answer(*arguments: object, stdin: bytes = b"") -> dict[str, Any]:
    (line,) = done(*arguments, stdin=stdin).text.splitlines()
    document: dict[str, Any] = json.loads(line)
    return document


@pytest.mark.parametrize("rules", RULES)
def test_a_solution_is_replayed_to_what_it_claims(rules: str) -> None:
    solution = answer("deal", "solve", CLEARED, "--rules", rules, "--json")
    assert list(solution) == ["deal_number", *SOLUTION_KEYS]
    found = replay(deal_numbered(CLEARED), rules_named(rules), solution["line"])
    assert (found.cleared, found.score, found.draws) == (
        solution["cleared"],
        solution["best_score"],
        solution["draws"],
    )
    assert solution["positions"] > 0


def test_the_verdict_alone_leaves_the_rest_null_where_the_deal_cannot_be_cleared() -> None:
    verdict = answer("deal", "solve", NOT_CLEARED, "--json", "--verdict-only")
    assert [verdict[key] for key in ("cleared", "best_score", "line", "draws")] == [False, None, None, None]
    assert answer("deal", "solve", NOT_CLEARED, "--json")["best_score"] > 0
    cleared = answer("deal", "solve", CLEARED, "--json", "--verdict-only")
    assert cleared["line"] == answer("deal", "solve", CLEARED, "--json")["line"]


def test_a_number_and_its_notation_are_one_deal() -> None:
    notation = deal_numbered(7).notation
    by_number = answer("deal", "solve", 7, "--json")
    assert by_number.pop("deal_number") == 7
    for text in (notation, notation.lower(), notation.replace("|", " ")):
        assert answer("deal", "solve", text, "--json") == by_number
    assert answer("deal", "solve", "007", "--json")["deal_number"] == 7


def test_a_rating_is_a_distribution_with_its_par() -> None:
    rating = answer("deal", "rate", CLEARED, "--json")
    assert list(rating) == ["deal_number", *RATING_KEYS]
    assert len(rating["steady_scores"]) == 52
    assert sum(rating["steady_scores"]) == pytest.approx(1)
    assert rating["steady_p10"] <= rating["steady_p50"] <= rating["steady_p90"]
    assert rating["par"] == min(5, max(3, int(rating["steady_mean"] + 0.5)))
    [mass] = VARIED.clear_masses([deal_numbered(CLEARED)], RULES["golf"])
    assert (rating["clear_chance"], rating["difficulty"]) == (mass / TOTAL_MASS, difficulty_of(mass))


def test_people_get_words() -> None:
    solution = done("deal", "solve", NOT_CLEARED).text
    assert "cannot be cleared, proved by searching" in solution
    assert "best score  3" in solution
    assert "best score" not in done("deal", "solve", NOT_CLEARED, "--verdict-only").text
    rating = done("deal", "rate", NOT_CLEARED).text
    assert "par         5" in rating
    assert "(10 %, 50 %, 90 %)" in rating


def test_the_table_shows_every_card_once_where_it_lies() -> None:
    deal = deal_numbered(1)
    text = draw_table(start(deal), RULES["golf"], symbols=False).plain
    rows = [line.split() for line in text.splitlines() if line.startswith(" |")]
    lying = [[row[n * 3 + 1] for row in rows] for n in range(7)]
    assert lying == [[CARD_NAMES[card] for card in column] for column in deal.columns]
    words = text.split()
    assert sorted(word for word in words if word in CARD_NAMES) == sorted(CARD_NAMES)
    assert [line.split() for line in text.splitlines() if line.strip().startswith("1 ")] == [list("1234567")]
    assert "plays   no column under golf rules" in text


def test_the_table_says_which_columns_can_be_played() -> None:
    deal = parse_deal(next(iter([deal_numbered(5).notation])))
    text = draw_table(start(deal), RULES["relaxed"], symbols=True).plain
    assert "under relaxed rules" in text
    assert all(symbol in text for symbol in "♣♦♥♠")


def rendered(deal: Deal, **options: Any) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200, **options).print(draw_table(start(deal), RULES["golf"], symbols=True))
    return stream.getvalue()


def test_red_suits_are_red_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    deal = deal_numbered(1)
    coloured = rendered(deal, force_terminal=True)
    assert coloured.count("\x1b[31m") == 26
    assert "\x1b[31m7♥" in coloured
    assert "\x1b" not in rendered(deal)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in rendered(deal, force_terminal=True)
    assert "\x1b" not in done("deal", "show", 1).text


def test_where_symbols_cannot_be_printed_letters_are() -> None:
    shown = answer("deal", "show", 1, "--json")
    assert shown["legal_moves"] == "D"
    assert [len(column) for column in shown["columns"]] == [5] * 7
    assert [shown["waste"], len(shown["stock"]), shown["puzzle_id"]] == ["8D", 16, "14ce48e75fe9aaed"]


def lines_for(deals: list[str], *arguments: object) -> list[dict[str, Any]]:
    text = "\n".join(deals).encode()
    outcome = done("deal", *arguments, "--file", "-", stdin=text)
    return [json.loads(line) for line in outcome.text.splitlines()]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_file_is_answered_line_by_line_in_its_order(tmp_path: Path, workers: int) -> None:
    numbers = list(range(40))
    random.Random(1).shuffle(numbers)
    rows = [deal_numbered(n).notation if n % 3 else str(n) for n in numbers]
    file = tmp_path / "deals.txt"
    file.write_bytes(b"\xef\xbb\xbf# some deals\r\n\r\n" + "\r\n".join(rows).encode() + b"\n\n  # the end")
    outcome = done("deal", "solve", "--verdict-only", "--workers", workers, "--file", file)
    found = [json.loads(line) for line in outcome.text.splitlines()]
    assert [row["deal"] for row in found] == [deal_numbered(n).notation for n in numbers]
    assert [row.get("deal_number") for row in found] == [None if n % 3 else n for n in numbers]
    assert "lines: " in outcome.err
    assert found == lines_for(rows, "solve", "--verdict-only")


def test_the_other_answers_come_for_files_too() -> None:
    assert [row["deal_number"] for row in lines_for(["3", "4"], "rate")] == [3, 4]
    assert [row["waste"] for row in lines_for(["1", "1"], "show")] == ["8D", "8D"]


def test_an_empty_file_has_no_answers() -> None:
    assert lines_for([], "solve") == lines_for(["", "# nothing", "  "], "solve") == []


BAD_LINES = [
    (
        b"1\n2\n\n# x\n99999999999999999999\n3\n",
        2,
        "standard input, line 5: deal number 99999999999999999999",
    ),
    (b"1\n2C TH\n", 1, "line 2: not a deal: 2 cards; a deal has 52"),
    (b"1\n2C TH AC JC 7C | XX\n", 1, "token 6, 'XX', is not a card"),
    (b"seven\n", 0, "line 1: 'seven' is neither a deal number"),
    (b"1\n\xffabc\n", 1, "line 2: byte 1, 0xff, is not UTF-8; save the file as UTF-8 text"),
    ("1\nKönig\n".encode("latin-1"), 1, "line 2: byte 2, 0xf6, is not UTF-8"),
    ("1\n2\n".encode("utf-16"), 0, "line 1: byte 1, 0xff, is not UTF-8"),
    (b"1\n" + b"\0" * 10, 1, "line 2: "),
    (b"1\n" + b"x" * 1_000_000, 1, "line 2: longer than 4000 bytes, so it is not a position"),
    (random.Random(2).randbytes(1_000_000), 0, "line 1: "),
]


@pytest.mark.parametrize(("data", "good", "words"), BAD_LINES, ids=[case[2][:40] for case in BAD_LINES])
def test_a_bad_line_is_named_after_all_before_it_were_answered(data: bytes, good: int, words: str) -> None:
    outcome = fairway("deal", "solve", "--verdict-only", "--file", "-", stdin=data)
    assert outcome.code == 2
    assert len(outcome.out.splitlines()) == good
    assert words in outcome.err.splitlines()[-1]
    assert "Traceback" not in outcome.err


class Arriving:
    """A stream from which one piece arrives at a time."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def read1(self, _: int, /) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def test_a_stream_is_read_as_it_arrives() -> None:
    stream = Arriving(b"1\n2", b"2\n\n3\n", b"4", b"\n", b"# 5\n", b"6")
    blocks = blocks_of(stream, "pipe", "deal")
    assert next(blocks) == [Line(1, "1")]
    assert stream.pieces[0] == b"2\n\n3\n"
    assert list(blocks) == [[Line(2, "22"), Line(4, "3")], [Line(5, "4")], [], [Line(7, "6")]]


def test_a_line_that_never_ends_is_refused_before_it_is_read() -> None:
    stream = Arriving(b"1\n", *[b"x" * 1000] * 10)
    blocks = blocks_of(stream, "pipe", "deal")
    assert next(blocks) == [Line(1, "1")]
    with pytest.raises(UsageError, match="line 2: longer than 4000 bytes, so it is not a deal"):
        list(blocks)
    assert len(stream.pieces) == 5


@pytest.mark.parametrize(
    ("data", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"a\r\nb\r\n", 2)]
)
def test_lines_are_counted_as_they_are_read(data: bytes, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BLOCK_BYTES", 2)
    assert line_count(io.BytesIO(data)) == count


def test_what_is_accepted_never_fails_later() -> None:
    dice = random.Random(3)
    letters = "".join(CARD_NAMES) + " |\t-09x²"
    for _ in range(2000):
        text = "".join(dice.choice(letters) for _ in range(dice.randrange(30)))
        try:
            given = parse_given(text)
        except UsageError:
            continue
        assert given.deal == deal_numbered(given.number or 0)
