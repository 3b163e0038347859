"""Macros of SQL over cards and scores: in every query, and in `catalog.sql` for a plain DuckDB.

Cards and scores are as the solver has them: the texts below are made from its tables, so that there is one
definition of each. Null gives null; what is no card, column or level of par is an error, as in a cast.
"""

from typing import Final

from solver.cards import RANK_LETTERS, SUIT_LETTERS
from solver.table.deal import COLUMN_COUNT
from solver.table.score import score_name

_BAR: Final = " | "
_NAMED: Final = range(-2, 3)  # differences from par that have a name

_DEAL_COLUMN: Final = f"""\
-- deal_column(deal, n): the cards of column 1 .. {COLUMN_COUNT} as a list of texts, the playable card last
CREATE OR REPLACE MACRO deal_column(deal, n) AS CASE
  WHEN n BETWEEN 1 AND {COLUMN_COUNT} THEN string_split(string_split(deal, '{_BAR}')[n], ' ')
  WHEN n IS NOT NULL THEN error('deal_column: ' || n || ' is no column; they are 1 .. {COLUMN_COUNT}')
END;
"""

_CARD_RANK: Final = f"""\
-- card_rank(card): 0 .. {len(RANK_LETTERS) - 1} for A .. K, of a card such as 'TD'
CREATE OR REPLACE MACRO card_rank(card) AS CASE
  WHEN regexp_full_match(card, '[{RANK_LETTERS}][{SUIT_LETTERS}]', 'i')
    THEN (strpos('{RANK_LETTERS}', upper(card[1])) - 1)::TINYINT
  WHEN card IS NOT NULL THEN error('card_rank: ' || card || ' is no card; one is written as in TD')
END;
"""

_NAMES: Final = "\n".join(f"  WHEN {difference} THEN '{score_name(difference, 0)}'" for difference in _NAMED)
_SCORE_NAME: Final = f"""\
-- score_name(score, par): Eagle to Double bogey, beyond them the signed number, as in '+3'
CREATE OR REPLACE MACRO score_name(score, par) AS CASE score::INTEGER - par::INTEGER
{_NAMES}
  ELSE printf('%+d', score::INTEGER - par::INTEGER)
END;
"""

MACROS: Final = (_DEAL_COLUMN, _CARD_RANK, _SCORE_NAME)
"""A statement each; `CREATE OR REPLACE`, with a line before it that says what the macro gives."""
