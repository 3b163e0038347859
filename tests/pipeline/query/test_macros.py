"""SQL macros agree with the solver, in `fairway query` and in a plain DuckDB."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import QueryError
from pipeline.pools.catalog import empty_catalog
from pipeline.query.views import MACROS, write_views
from pipeline.store.root import open_root
from solver.cards import CARD_NAMES, card_name, parse_card, rank_of
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, score_name
from tests.support.queries import plain_duckdb, query

PARS = (3, 4, 5)
DEAL = deal_numbered(7)


@pytest.fixture(params=["guarded", "plain"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A function that runs a statement as `fairway query` does, or in a plain DuckDB with `catalog.sql`."""
    write_views(open_root(tmp_path, create=True), empty_catalog())

    def plain(statement: str) -> list[Any]:
        with plain_duckdb(tmp_path) as connection:
            return connection.sql(statement).fetchall()

    return plain if request.param == "plain" else partial(query, tmp_path)


def test_a_column_has_the_cards_of_the_deal_with_the_playable_one_last(ask: Any) -> None:
    rows = ask(f"select deal_column('{DEAL.notation}', n) from range(1, 8) t(n) order by n")
    assert [row[0] for row in rows] == [[card_name(card) for card in column] for column in DEAL.columns]


@pytest.mark.parametrize("number", [0, 8, -1, 9])
def test_other_columns_are_errors(ask: Any, number: int) -> None:
    with pytest.raises((QueryError, duckdb.Error), match=f"{number} is no column; they are 1 .. 7"):
        ask(f"select deal_column('{DEAL.notation}', {number})")


def test_ranks_agree_with_the_solver_in_either_case(ask: Any) -> None:
    names = [*CARD_NAMES, *map(str.lower, CARD_NAMES)]
    rows = ask(f"select card_rank(card) from (select unnest({names!r}) as card)")
    assert [row[0] for row in rows] == [rank_of(parse_card(name)) for name in names]


@pytest.mark.parametrize("text", ["", "T", "1D", "TX", "TD ", "10D", "DT"])
def test_a_text_that_is_not_a_card_is_an_error(ask: Any, text: str) -> None:
    with pytest.raises((QueryError, duckdb.Error), match=f"card_rank: {text} is no card"):
        ask(f"select card_rank('{text}')")


def test_names_of_scores_agree_with_the_solver(ask: Any) -> None:
    cases = [(score, par) for score in range(LOWEST_SCORE, HIGHEST_SCORE + 1) for par in PARS]
    rows = ask(
        "select score_name(pair[1]::tinyint, pair[2]::tinyint)"
        f" from (select unnest({json.dumps(cases)}) as pair)"
    )
    assert [row[0] for row in rows] == [score_name(*case) for case in cases]


def test_null_gives_null(ask: Any) -> None:
    rows = ask(
        "select deal_column(null, 1), deal_column('a', null), card_rank(null),"
        " score_name(null, 4), score_name(4, null)"
    )
    assert rows == [(None,) * 5]


def test_macros_can_be_combined_and_applied_to_columns(ask: Any) -> None:
    ranks = [[rank_of(card) for card in column] for column in DEAL.columns]
    rows = ask(
        "select n, [card_rank(card) for card in deal_column(deal, n)] as ranks"
        f" from (select '{DEAL.notation}' as deal), range(1, 8) t(n) order by n"
    )
    assert rows == [(n + 1, column) for n, column in enumerate(ranks)]


def test_a_macro_is_one_documented_statement() -> None:
    for text in MACROS:
        remark, _, statement = text.partition("\n")
        assert remark.startswith("-- ")
        assert len(duckdb.connect().extract_statements(statement)) == 1
        assert statement.startswith(f"CREATE OR REPLACE MACRO {remark.removeprefix('-- ').split(':')[0]} AS ")
