"""An illegal move is reported in the same words by every command, after the name of the line's source.

Also: the examples in the help of `hint` and `review` work as shown.
"""

import json
import shlex
from pathlib import Path

import pytest

from pipeline.daily.checks import deal_of
from pipeline.daily.files import published_daily
from pipeline.deals.levels import DAILY_RULES, level_named
from pipeline.play.rounds import round_of
from pipeline.pools.catalog import load_catalog
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from solver.table.deal import Deal, parse_deal
from solver.table.moves import after
from solver.table.rules import Rules
from tests.support.command import done, fairway
from tests.support.pools import LEVEL, with_nights
from tests.support.publishing import ALL_OVER, DAYS, site_in

DAY = DAYS[0]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> LocalStorage:
    """A data root with Daily holes and a round."""
    root = open_root(tmp_path_factory.mktemp("lines") / "root", create=True)
    site_in(root.root).publish(now=ALL_OVER)
    with_nights(root, [40])
    return root


def words(deal: Deal, rules: Rules, where: str = "") -> str:
    """Return the message for an illegal second move."""
    legal = ", ".join(after(deal, rules, "D").legal_moves(rules))
    return f"{where}move 2 of the line, 'x', is not legal; legal there: {legal}"


@pytest.mark.parametrize("command", ["hint", "review"])
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "JSON"])
def test_an_illegal_move_of_an_option(storage: LocalStorage, command: str, options: list[str]) -> None:
    deal, rules = deal_of(published_daily(storage, DAY)), DAILY_RULES
    outcome = fairway(command, deal.notation, "--rules", rules.name, "--line", "Dx", *options)
    assert (outcome.complaint, outcome.code) == (words(deal, rules), 2)


def test_an_illegal_move_of_a_daily_hole(storage: LocalStorage) -> None:
    outcome = fairway("scorecard", "--daily", DAY, "--line", "Dx", "--data", storage.root)
    message = words(deal_of(published_daily(storage, DAY)), DAILY_RULES)
    assert (outcome.complaint, outcome.code) == (message, 2)


def test_an_illegal_move_of_a_scorecard(storage: LocalStorage) -> None:
    third = round_of(storage, load_catalog(storage).pool(LEVEL), 1).holes[2]
    outcome = fairway(
        *("scorecard", LEVEL, "--number", 1, "--lines", "-", "--data", storage.root), stdin=b"-\n-\nDx\n"
    )
    message = words(parse_deal(third.deal), level_named(LEVEL).rules, "hole 3: ")
    assert (outcome.complaint, outcome.code) == (message, 2)


def test_an_illegal_move_of_a_result(storage: LocalStorage, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps({"date": DAY.isoformat(), "line": "Dx"}))
    outcome = fairway("stats", file, "--data", storage.root)
    message = words(deal_of(published_daily(storage, DAY)), DAILY_RULES, f"{file}, line 1: ")
    assert (outcome.complaint, outcome.code) == (message, 2)


@pytest.mark.parametrize("command", ["hint", "review"])
def test_the_example_in_the_help_works(command: str) -> None:
    example = next(line for line in done(command, "--help").text.splitlines() if "Example: " in line)
    done(*shlex.split(example.partition("Example: ")[2])[1:])
