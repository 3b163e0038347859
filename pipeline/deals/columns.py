"""The columns of `deals` as rows of a table: name, type, what they hold and how they are worked out.

Their order is the order in the files. A change here is a new schema version (`pipeline.versions`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pipeline.deals.certified import CertifiedDeal

TEXT: Final = "text"
UINT64: Final = "uint64"
INT8: Final = "int8"
INT16: Final = "int16"
FLOAT64: Final = "float64"
FLOATS: Final = "list of float64"

SCORING: Final = "golf"
_SCORES: Final = "score points: cards left, or minus the stock cards not drawn"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `deals`.

    Attributes:
        name: in Parquet and in SQL.
        type: `TEXT`, `UINT64`, `INT8`, `INT16`, `FLOAT64` or `FLOATS`; no column contains nulls.
        description: what it holds; stored in the metadata of the files.
        unit: its unit, or the format of its text; stored in the metadata of the files.
        value: returns its value for a certified deal.
    """

    name: str
    type: str
    description: str
    unit: str
    value: Callable[[CertifiedDeal], object]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of `deals`: all values, in the order of `COLUMNS`, and three of them by name."""

    deal_number: int
    puzzle_id: str
    par: int
    values: tuple[Any, ...]

    def value(self, name: str) -> Any:
        """Return the value of a column."""
        return self.values[_PLACES[name]]


COLUMNS: Final = (
    Column("level", TEXT, "Level whose policy admits the deal", "name", lambda deal: deal.level),
    Column(
        "deal_number",
        UINT64,
        "Number that names the shuffle for all time, whatever the level",
        "number from 0 to 2^63 - 1",
        lambda deal: deal.deal_number,
    ),
    Column(
        "puzzle_id",
        TEXT,
        "Identity of the puzzle, whatever the suits and the order of the columns",
        "16 hex digits",
        lambda deal: deal.deal.puzzle_id,
    ),
    Column(
        "deal",
        TEXT,
        "The cards: seven columns, each from the card played last to the playable one; waste; stock as drawn",
        "notation",
        lambda deal: deal.deal.notation,
    ),
    Column(
        "rules",
        TEXT,
        "Which ranks may be played on a King and an Ace",
        "name as in PySolFC",
        lambda deal: deal.rules,
    ),
    Column(
        "par",
        INT16,
        "Steady mean rounded half up, kept to 3 .. 5",
        "score points",
        lambda deal: deal.par,
    ),
    Column(
        "best_score",
        INT16,
        "Least score that can be reached, proved by exhaustion",
        _SCORES,
        lambda deal: deal.best_score,
    ),
    Column(
        "line",
        TEXT,
        "Moves that reach the best score: 1 .. 7 plays from that column, D draws",
        "line v1",
        lambda deal: deal.line,
    ),
    Column("draws", INT8, "Draws in the line", "stock cards", lambda deal: deal.draws),
    Column(
        "steady_mean",
        FLOAT64,
        "Mean score of the steady player",
        _SCORES,
        lambda deal: deal.distribution.mean,
    ),
    Column(
        "steady_sd",
        FLOAT64,
        "Standard deviation of the steady player's score, of the population",
        "score points",
        lambda deal: deal.distribution.sd,
    ),
    Column(
        "steady_clear_rate",
        FLOAT64,
        "How often the steady player clears the columns",
        "probability",
        lambda deal: deal.distribution.clear_rate,
    ),
    Column(
        "steady_p10",
        INT8,
        "Least score within which a tenth of the steady player's holes end",
        _SCORES,
        lambda deal: deal.distribution.p10,
    ),
    Column(
        "steady_p50",
        INT8,
        "Least score within which half of the steady player's holes end",
        _SCORES,
        lambda deal: deal.distribution.p50,
    ),
    Column(
        "steady_p90",
        INT8,
        "Least score within which nine tenths of the steady player's holes end",
        _SCORES,
        lambda deal: deal.distribution.p90,
    ),
    Column(
        "steady_scores",
        FLOATS,
        "How likely each of the scores -16 .. 35 is for the steady player, in that order",
        "probability: mass / 2^60, rounded to a float",
        lambda deal: list(deal.distribution.probabilities),
    ),
    Column("scoring", TEXT, "How a hole is scored", "name", lambda _: SCORING),
    Column(
        "clear_chance",
        FLOAT64,
        "How often the varied player clears the columns",
        "probability: mass / 2^60, rounded to a float",
        lambda deal: deal.clear_chance,
    ),
    Column(
        "difficulty",
        INT8,
        "How many tries a clear takes the varied player",
        "1 gentle, 2 moderate, 3 demanding, 4 severe, 5 extreme",
        lambda deal: deal.difficulty,
    ),
)

ADDED_IN_V2: Final = ("scoring", "clear_chance", "difficulty")
"""Columns that parts of schema version 1 do not have."""


_PLACES: Final = {column.name: place for place, column in enumerate(COLUMNS)}


def row_of(deal: CertifiedDeal) -> Row:
    """Work out the row of a certified deal."""
    values = tuple([column.value(deal) for column in COLUMNS])
    return Row(deal.deal_number, deal.deal.puzzle_id, deal.par, values)
