"""Versions of all frozen definitions: a change adds a version, it never edits one.

Each number says which definition produced a value, so that values of different definitions are not mixed up.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CATALOG: Final = 5  # layout of catalog.json; 1 and 2 were never released
OLDEST_CATALOG: Final = 3  # the oldest layout that is read: its parts lie in folders such as level=easy
POLICY_CATALOG: Final = 5  # the oldest layout that records the policy of each generation
UNFINISHED: Final = 3  # layout of the record of an unfinished regeneration
SCHEMA: Final = 2  # columns of a part
SHUFFLE: Final = 1
RULES: Final = 1
LINE: Final = 1
STEADY: Final = 1
PAR: Final = 1
POLICY: Final = 2
PUZZLE: Final = 1
DAILY: Final = 2  # from 2027 on; earlier dates stay version 1
VARIED: Final = 1
DIFFICULTY: Final = 1
COURSE: Final = 1  # pars of a round's holes, and which deals it consists of
STUDY: Final = 1  # columns of the counts of a study
PLAYERS_STUDY: Final = 1  # columns of the findings of a players' study

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
        "varied": VARIED,
        "difficulty": DIFFICULTY,
    }
)
"""Versions of what a part depends on; stored in its file metadata and in the catalog."""

_FIRST_PARTS: Final = ("schema", "shuffle", "rules", "line", "steady", "par", "policy", "puzzle")
EARLIER_PART_VERSIONS: Final[Mapping[str, int]] = MappingProxyType(dict.fromkeys(_FIRST_PARTS, 1))
"""Versions of parts without clear chance and difficulty, which are read, checked and repaired as well."""

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
"""Versions of what a Daily hole depends on, in the order of its document; see `daily_versions`."""


def part_versions(policy: int) -> dict[str, int]:
    """Return the versions of a new part of a pool whose policy has this version."""
    return {**PART_VERSIONS, "policy": policy}


def is_reproducible(found: Mapping[str, int], policy: int) -> bool:
    """Return whether a part with these versions, of a pool with this policy, can be made again."""
    return dict(found) in (part_versions(policy), dict(EARLIER_PART_VERSIONS))


def daily_versions(daily: int) -> dict[str, int]:
    """Return the versions of a Daily hole that is chosen by this version of the definition."""
    return {**DAILY_VERSIONS, "daily": daily}


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
