"""Why a move is the one to make: a small vocabulary of statements that are true of the position."""

from collections.abc import Mapping
from dataclasses import dataclass

Value = int | str


@dataclass(frozen=True, slots=True)
class Reason:
    """One true statement about a hinted move.

    Attributes:
        code: names the kind of statement, for programs that say it in other words.
        values: what the statement says beside that; a rank is its letter, a column counts from 1.
        text: the statement as an English sentence, without capital and full stop.
    """

    code: str
    values: Mapping[str, Value]
    text: str
