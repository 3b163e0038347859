"""Versions of all frozen definitions: a change adds a version, it never edits one.

Each number says which definition produced a value, so that values of different definitions are not mixed up.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CATALOG: Final = 4  # layout of catalog.json; 1 and 2 were never released
OLDEST_CATALOG: Final = 3  # the oldest layout that is read: its parts lie in folders such as level=easy
UNFINISHED: Final = 2  # layout of the record of an unfinished regeneration
SCHEMA: Final = 1  # columns of a part
SHUFFLE: Final = 1
RULES: Final = 1
LINE: Final = 1
STEADY: Final = 1
PAR: Final = 1
POLICY: Final = 1
PUZZLE: Final = 1
DAILY: Final = 1
COURSE: Final = 1  # pars of a round's holes, and which deals it consists of
STUDY: Final = 1  # columns of the counts of a study
PLAYERS_STUDY: Final = 1  # columns of the findings of a players' study
VARIED: Final = 1
DIFFICULTY: Final = 1

PART_VERSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "schema": SCHEMA,
        "shuffle": SHUFFLE,
        "rules": RULES,
        "line": LINE,
        "steady": STEADY,
        "par": PAR,
        "policy": POLICY,
        "puzzle": PUZZLE,
    }
)
"""Versions of what a part depends on; stored in its file metadata and in the catalog."""

DAILY_VERSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "shuffle": SHUFFLE,
        "rules": RULES,
        "daily": DAILY,
        "steady": STEADY,
        "par": PAR,
        "line": LINE,
        "puzzle": PUZZLE,
    }
)
"""Versions of what a Daily hole depends on, in the order of its document."""

STUDY_VERSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "study": STUDY,
        "shuffle": SHUFFLE,
        "rules": RULES,
    }
)
"""Versions of what a study's counts depend on; stored in the metadata of their files."""

PLAYERS_STUDY_VERSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "study": PLAYERS_STUDY,
        "shuffle": SHUFFLE,
        "rules": RULES,
        "steady": STEADY,
        "varied": VARIED,
        "difficulty": DIFFICULTY,
    }
)
"""Versions of what a players' study depends on; stored in the metadata of its file."""
