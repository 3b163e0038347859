"""Positions by number, notation or date: one alone, or one per line as a program keeps a process open."""

import io
import json
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.cli.app import run
from pipeline.daily.checks import deal_of
from pipeline.daily.files import published_daily
from pipeline.deals.shuffle import deal_numbered
from pipeline.store.root import open_root
from solver.cards import card_name
from solver.table.moves import after
from solver.table.rules import RULES
from tests.support.command import done, fairway
from tests.support.publishing import ALL_OVER, site_in

COMMANDS = ["hint", "review", "deal show", "deal solve", "deal rate"]
WITH_LINE = COMMANDS[:3]
DAY = date(2026, 11, 30)
NUMBER = 617
LINE = "D6133"
each_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with the Daily hole of one date."""
    storage = open_root(tmp_path_factory.mktemp("positions") / "root", create=True)
    site_in(storage.root).publish([DAY], now=ALL_OVER)
    return storage.root


def answers(command: str, *lines: object, options: tuple[object, ...] = ()) -> list[dict[str, Any]]:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    outcome = done(*command.split(), "--file", "-", *options, stdin=text.encode())
    return [json.loads(line) for line in outcome.text.splitlines()]


def answer(command: str, *arguments: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done(*command.split(), *arguments, "--json").text)
    return document


@each_command
def test_a_date_stands_for_its_published_hole(command: str, root: Path) -> None:
    notation = deal_of(published_daily(open_root(root, create=False), DAY)).notation
    by_date = answer(command, DAY, "--data", root)
    assert next(iter(by_date)) == "date"
    assert by_date.pop("date") == str(DAY)
    assert by_date == answer(command, notation)
    assert done(*command.split(), DAY, "--data", root).text.startswith(f"the Daily hole of {DAY}, ")
    lines = [str(DAY), {"date": str(DAY)}]
    for found in answers(command, *lines, options=("--data", root)):
        assert found == {"date": str(DAY)} | by_date


@each_command
def test_a_date_without_a_published_hole_is_refused(command: str, root: Path) -> None:
    outcome = fairway(*command.split(), "2026-11-29", "--data", root)
    assert outcome.complaint.startswith("the Daily hole of 2026-11-29 is not published")
    assert outcome.code == 1
    outcome = fairway(*command.split(), "--file", "-", "--data", root, stdin=b"2026-11-29\n")
    assert outcome.complaint.startswith(
        "standard input, line 1: the Daily hole of 2026-11-29 is not published"
    )
    assert outcome.code == 1
    assert "the date 2026-02-30 does not exist" in fairway(*command.split(), "2026-02-30").complaint


@each_command
def test_a_json_line_gets_the_answer_of_the_command(command: str) -> None:
    line = {"line": LINE} if command in WITH_LINE else {}
    options = ["--line", LINE] if command in WITH_LINE else []
    by_number = answer(command, NUMBER, "--rules", "relaxed", *options)
    by_notation = answer(command, deal_numbered(NUMBER).notation, *options)
    assert answers(
        command,
        {"deal": NUMBER, "rules": "relaxed"} | line,
        {"deal": str(NUMBER), "rules": "relaxed", "id": 1} | line,
        {"deal": by_notation["deal"], "rules": None} | line,
        str(NUMBER),
        f" # {NUMBER}",
    ) == [by_number, by_number, by_notation, answer(command, NUMBER)]


def test_an_answer_can_be_asked_about_again() -> None:
    (shown,) = answers("deal show", {"deal": NUMBER, "rules": "relaxed", "line": LINE})
    (hinted,) = answers("hint", shown, options=("--all",))
    assert {"deal_number": NUMBER} | hinted == answer(
        "hint", NUMBER, "--rules", "relaxed", "--line", LINE, "--all"
    )


def test_the_rules_option_is_for_lines_that_name_none() -> None:
    lines = [str(NUMBER), {"deal": NUMBER}, {"deal": NUMBER, "rules": "golf"}]
    found = answers("deal solve", *lines, options=("--rules", "relaxed"))
    assert [each["rules"] for each in found] == ["relaxed", "relaxed", "golf"]


@pytest.mark.parametrize("workers", [1, 3])
@each_command
def test_each_line_is_answered_before_the_next_is_read(
    command: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.BufferedWriter(io.BytesIO())  # what is not flushed does not arrive
    lines = [b'{"deal":1}\n', b"2\n", b'{"deal":\n', b"3\n"]
    arrived: list[int] = []

    class Client:
        """A program that writes a line once it has the answers to all before."""

        def read1(self, _: int, /) -> bytes:
            arrived.append(out.raw.getvalue().count(b"\n"))
            return lines[len(arrived) - 1] if len(arrived) <= len(lines) else b""

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Client()))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out, isatty=lambda: False, flush=out.flush))
    assert run([*command.split(), "--file", "-", "--workers", str(workers)]) == 2
    assert arrived == [0, 1, 2, 3, 4]


BAD = [
    ('{"deal":1', "it is not a JSON document"),
    ("{}", "give either 'deal' (a number or a notation) or 'date'"),
    ('{"deal":1,"date":"2026-11-30"}', "give either"),
    ('{"deal":true}', "'deal' is True; it must be a number"),
    ('{"deal":-1}', "'-1' is neither a deal number"),
    ('{"deal":"2026-11-30"}', "'2026-11-30' is neither a deal number"),
    ('{"deal":"2C TH"}', "not a deal: 2 cards; a deal has 52"),
    ('{"date":"617"}', "'617' is not a date; write it as YYYY-MM-DD"),
    ('{"date":617}', "'date' is 617; it must be text"),
    ('{"date":"2026-11-29"}', "the Daily hole of 2026-11-29 is not published"),
    ('{"deal":1,"rules":"blue"}', "unknown rules 'blue'"),
    ('{"deal":1,"line":4}', "'line' is 4; it must be text"),
    ('{"deal":1,"line":"Dx"}', "move 2 of the line, 'x', is not legal"),
    (f'{{"deal":1,"rules":"{"x" * 3000}"}}', "unknown rules 'xxxx"),
]


def test_a_bad_json_line_is_answered_with_an_error_and_the_rest_goes_on(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "positions.jsonl"
    file.write_text("".join(f"{line}\n1\n" for line, _ in BAD))
    outcome = fairway("hint", "--file", file, "--data", root)
    found = [json.loads(line) for line in outcome.text.splitlines()]
    assert [each["deal_number"] for each in found[1::2]] == [1] * len(BAD)
    for place, (each, (_, words)) in enumerate(zip(found[::2], BAD, strict=True)):
        assert list(each) == ["line_number", "error"]
        assert each["line_number"] == 2 * place + 1
        assert words in each["error"]
        assert len(each["error"]) < 300
    (complaint,) = [line for line in outcome.err.splitlines() if line.startswith("fairway: error")]
    assert f"{file}: {len(BAD)} lines could not be answered; the first is line 1: it is not" in complaint
    assert outcome.code == 2


@pytest.mark.parametrize("command", ["deal solve", "deal rate"])
def test_a_line_is_refused_where_the_start_of_the_deal_is_asked_about(command: str) -> None:
    outcome = fairway(*command.split(), "--file", "-", stdin=b'{"deal":1,"line":"D"}\n{"deal":1,"line":""}\n')
    refused, answered = map(json.loads, outcome.text.splitlines())
    assert "this command starts from the deal; leave 'line' out" in refused["error"]
    assert answered["deal_number"] == 1


@pytest.mark.parametrize("command", WITH_LINE)
def test_a_line_and_a_file_are_refused_together(command: str) -> None:
    outcome = fairway(*command.split(), "--file", "-", "--line", "D")
    assert "--line cannot be combined with --file" in outcome.complaint
    assert outcome.code == 2


def test_the_table_is_shown_after_a_line() -> None:
    position = after(deal_numbered(NUMBER), RULES["golf"], LINE)
    shown = answer("deal show", NUMBER, "--line", LINE)
    assert [len(column) for column in shown["columns"]] == list(position.heights)
    assert shown["waste"] == card_name(position.top)
    assert shown["stock"] == [card_name(card) for card in position.undrawn]
    assert (shown["line"], shown["legal_moves"]) == (LINE, position.legal_moves(RULES["golf"]))
    printed = done("deal", "show", NUMBER, "--line", LINE).text
    table = done("hint", NUMBER, "--line", LINE).text.split("\n\n")[1]
    assert table in printed
    assert fairway("deal", "show", NUMBER, "--line", "x").code == 2
