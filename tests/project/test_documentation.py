"""What the pages name exists, and the output that they show is what the commands print."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.settings.model import ALLOWED
from jobs.settings.sources import VARIABLES, text_of
from jobs.terminal import clock
from jobs.watch.status import PROBLEMS
from pipeline.deals.columns import COLUMNS
from pipeline.query.views import DAILY_COLUMNS, RUN_COLUMNS
from tests.support.command import PROGRAM, ROOT, done
from tests.support.documentation import (
    PAGES,
    Example,
    anchors_in,
    blocks_in,
    command_names,
    commands_in,
    examples_in,
    links_in,
    page,
    rows_in,
    unknown_in,
)
from tests.support.queries import query_here

DOCS = [name for name in PAGES if name == "README.md" or name.startswith("docs/")]
EXAMPLES = [(name, example) for name in DOCS for example in examples_in(PAGES[name])]


@pytest.fixture(autouse=True)
def _quick_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    query_here(monkeypatch)


@pytest.fixture(scope="module")
def documented_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data root of the pages: after `fairway nightly` on 2026-11-30 with the default settings."""
    root = tmp_path_factory.mktemp("documented") / "root"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRWAY_DAILY_FROM", "2026-11-29")  # the pages show one hole
        patch.setattr(clock, "now", lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
        done("nightly", "--data", root)
    return root


def test_the_readme_is_at_most_150_lines() -> None:
    assert len(page("README.md").splitlines()) <= 150


@pytest.mark.parametrize("name", PAGES)
def test_every_link_has_a_target(name: str) -> None:
    for link in links_in(PAGES[name]):
        path, _, anchor = link.partition("#")
        target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        assert target.exists(), link
        assert not anchor or anchor in anchors_in(target.read_text("utf-8")), link


def test_every_page_of_the_documentation_is_on_the_readmes_map() -> None:
    assert {name for name in DOCS if name != "README.md"} <= set(links_in(page("README.md")))


@pytest.mark.parametrize("name", [name for name in PAGES if name != "CHANGELOG.md"])
def test_every_command_and_option_that_a_page_names_exists(name: str) -> None:
    assert [words for words in commands_in(PAGES[name]) if unknown_in(words)] == []


@pytest.mark.parametrize(
    ("words", "unknown"),
    [(["nightli"], "nightli"), (["pool", "sho"], "sho"), (["nightly", "--dat"], "--dat")],
)
def test_a_command_or_option_that_does_not_exist_is_found(words: list[str], unknown: str) -> None:
    assert unknown_in(words) == [unknown]


@pytest.mark.parametrize("name", list(command_names()))
def test_every_command_is_documented(name: str) -> None:
    assert any(name in PAGES[place] for place in DOCS)


@pytest.mark.parametrize("name", list(command_names()))
def test_the_json_of_every_command_is_described(name: str) -> None:
    prints_json = "--json" in done(*name.split()[1:], "--help").text
    assert not prints_json or f"`{name}`" in page("docs/formats.md")


@pytest.mark.system
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[" ".join(e.words)[:40] for _, e in EXAMPLES])
def test_every_example_prints_what_is_shown(name: str, example: Example, documented_root: Path) -> None:
    assert example.shown, name
    printed = done(*example.words, "--data", documented_root).text
    assert example.differs_from(printed) is None, printed


def test_an_example_with_a_line_too_few_or_too_many_is_found() -> None:
    example = Example((), ("a", "...", "c", "d"))
    assert example.differs_from("a\nb\nc\nd\n") is None
    assert example.differs_from("a\nc\nd\n") is None
    assert [example.differs_from(text) for text in ("b\nc\nd", "a\nd", "a\nb\nc\nb\nd")] == ["a", "c", "d"]


@pytest.mark.system
def test_the_programs_on_the_playing_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hint, many_hints = blocks_in(page("docs/playing.md"), "python")
    assert output_of(hint, ROOT) == "the King on column 3 would end the run, so play it last\n"
    (tmp_path / "fairway").write_text(f"#!{sys.executable}\n{PROGRAM}\n")
    (tmp_path / "fairway").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert output_of(many_hints, ROOT).splitlines() == [
        "D: no card fits",
        "6: it keeps the best score still possible, -5",
        "move 2 of the line, 'x', is not legal; legal there: 6, D",
        "1: it starts a run of 10, longer than any other",
    ]


@pytest.mark.system
@pytest.mark.parametrize("tool", ["pandas", "polars", "pyarrow.dataset", "duckdb"])
def test_every_tool_reads_the_deals_in_force_as_shown(
    tool: str, regenerated_root: Path, tmp_path: Path
) -> None:
    first, *others = blocks_in(page("docs/catalog.md"), "python")
    (reading,) = [program for program in others if f"import {tool}\n" in program]
    (tmp_path / "data").symlink_to(regenerated_root)
    assert output_of(f"{first}{reading}print(len(deals))", tmp_path) == "8\n"


def output_of(program: str, folder: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.system
def test_every_query_on_the_catalog_page_returns_rows(documented_root: Path) -> None:
    (statements,) = blocks_in(page("docs/catalog.md"), "sql")
    asked = [statement for statement in re.split(r";\n", statements) if statement.strip()]
    assert len(asked) == 5
    for statement in asked:
        assert done("query", statement, "--data", documented_root, "--format", "csv").text.count("\n") > 1


@pytest.mark.system
def test_the_session_of_a_designer_runs_as_shown(made_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(made_root, root)
    (block,) = [block for block in blocks_in(page("docs/designing.md"), "sh") if "level show" in block]
    texts = {}
    for line in block.splitlines():
        words = shlex.split(line)[1:]
        texts[" ".join(words[:2])] = done(*words, "--data", root).text
    assert list(texts) == [
        *("level show", "pool preview", "pool regenerate", "level list", "pool diff", "pool history"),
        "pool rollback",
    ]
    assert "relaxed, steady mean below 4.5, difficulty 1 to 2" in texts["level list"]
    assert "difficulty 1 to 2 -- also moderate deals" in texts["pool history"]
    assert "generation 2: relaxed, steady mean below 4.5, difficulty 1 to 2 -- also" in texts["pool diff"]
    assert "easy is now at generation 1" in texts["pool rollback"]


def test_the_data_dictionary_lists_every_column_of_deals_with_type_meaning_and_unit() -> None:
    rows = [f"| `{c.name}` | {c.type} | {c.description} | {c.unit} |" for c in COLUMNS]
    assert "\n".join(rows) in page("docs/catalog.md")


def test_the_data_dictionary_lists_every_column_of_the_other_views_with_its_type() -> None:
    sections = re.split(r"^## ", page("docs/catalog.md"), flags=re.MULTILINE)
    for view, columns in (("dailies", DAILY_COLUMNS), ("runs", RUN_COLUMNS)):
        (section,) = [text for text in sections if text.startswith(f"Columns of `{view}`")]
        shown = list(columns_shown(section))
        assert shown == [(column.name, column.type) for column in columns]


def columns_shown(section: str) -> Iterator[tuple[str, str]]:
    for names, kind, *_ in rows_in(section)[2:]:
        for name in names.split(", "):
            yield name.strip("`"), kind.strip("`")


@pytest.mark.parametrize("key", ALLOWED, ids=text_of)
def test_every_setting_is_documented(key: tuple[str, ...]) -> None:
    name = f"levels.LEVEL.{key[-1]}" if key[0] == "levels" else text_of(key)
    assert f"| `{name}` |" in page("docs/operating.md")


@pytest.mark.parametrize("name", PAGES)
def test_every_variable_that_a_page_names_exists(name: str) -> None:
    named = re.findall(r"FAIRWAY_[A-Z_]+[A-Z]", PAGES[name])
    assert set(named) <= set(VARIABLES)


def test_exactly_the_metrics_that_are_written_are_documented(made_root: Path) -> None:
    written = re.findall(r"^# TYPE (\w+) ", (made_root / "metrics.prom").read_text(), re.MULTILINE)
    named = re.findall(r"`(fairway_\w+?)(?:\{[^}]*\})?`", page("docs/operating.md"))
    assert set(written) == set(named)


def test_the_commands_of_an_operator_are_found_on_their_page() -> None:
    found = list(commands_in(page("docs/operating.md")))
    assert ["config", "check", "/var/lib/fairway/fairway.toml"] in found
    assert ["repair", "--dry-run"] in found
    assert len(found) > 20


def test_every_file_for_operators_is_listed_and_exists() -> None:
    folder = ROOT / "jobs" / "deploy"
    named = {name for row in rows_in(page("jobs/deploy/README.md"))[2:] for name in row[0].split(", ")}
    there = {f"`{path.name}`" for path in folder.iterdir() if path.is_file() and path.name != "README.md"}
    assert named == there
    mentioned = re.findall(r"jobs/deploy/([\w.-]+\w)", page("docs/operating.md"))
    assert [name for name in mentioned if not (folder / name).exists()] == []


def test_every_alert_and_every_problem_is_explained() -> None:
    alerts = re.findall(r"alert: (\w+)", (ROOT / "jobs" / "deploy" / "alerts.yml").read_text())
    rows = {row[0].strip("`") for row in rows_in(page("docs/operating.md")) if all(row)}
    assert {*alerts, *PROBLEMS} <= rows
