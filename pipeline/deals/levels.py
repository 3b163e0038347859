"""The levels: rules, the deals that a level's policy admits, the par of a hole, the course of a round.

A level is data: a name and a policy. `LEVELS` are those that are built in; settings may change them or add
others. Policy v1 and v2, par v1 and the courses are frozen. A policy reads the steady player's distribution
through its exact mean, and the difficulty in integers, so that no rounding can move a deal over a threshold.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import floor
from types import MappingProxyType
from typing import Any, Final

from pipeline import versions
from pipeline.store.text import quoted, sha256_of
from solver.errors import UsageError
from solver.players.difficulty import EASIEST, HARDEST
from solver.table.rules import RULES, Rules
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE

_MAX_SHOWN: Final = 30
MAX_DEALS: Final = 10_000_000  # of a pool, or named by one command

LOWEST_PAR: Final = 3
HIGHEST_PAR: Final = 5
ROUND_HOLES: Final = 9

LEVEL_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")
NAME_FAULT: Final = (
    "a name is a lower-case letter, then up to 30 of a to z, 0 to 9, - and _, and not a command's"
)
_DECIMAL: Final = re.compile(r"-?[0-9]{1,2}(\.[0-9]{1,6})?")
_WHOLE: Final = re.compile(r"-?[0-9]{1,4}")
NO_BOUND: Final = "none"
RESERVED_NAMES: Final = frozenset(
    (
        *("all", "config", "current", "daily", "deal", "hint", "level", "nightly", "none", "pool", "query"),
        *(
            "repair",
            "review",
            "round",
            "rounds",
            "scorecard",
            "serve",
            "solutions",
            "stats",
            "status",
            "study",
        ),
        *("verify", "gc"),
    )
)
"""Names of commands, and of what stands beside a level; no pool may have one of them."""
_HASH_TEXT: Final = "fairway policy "


def par_of_mean(mean: Fraction) -> int:
    """Return par v1 (frozen) for a steady mean: rounded half up and limited to 3 .. 5."""
    return min(HIGHEST_PAR, max(LOWEST_PAR, floor(mean + Fraction(1, 2))))


@dataclass(frozen=True)
class Policy:
    """Which deals a level admits, of those that can be cleared under its rules, and its course.

    Its fields are JSON values, because a catalog keeps the policy of each generation.

    Attributes:
        version: the version of policies: 1 knows no difficulty.
        rules: name of the King rule.
        mean_from: least admitted steady mean (score points), a decimal number as text; None for no bound.
        mean_below: exclusive upper bound of the steady mean, likewise.
        difficulty_from: the least admitted difficulty.
        difficulty_to: the greatest admitted difficulty.
        course: the pars of a round's holes in the order they are played; they follow how many deals of each
            par the policy admits. Empty where there are no rounds.
    """

    version: int
    rules: str
    mean_from: str | None = None
    mean_below: str | None = None
    difficulty_from: int = EASIEST
    difficulty_to: int = HARDEST
    course: tuple[int, ...] = ()

    @cached_property
    def least_mean(self) -> Fraction | None:
        """`mean_from` as a number."""
        return None if self.mean_from is None else Fraction(self.mean_from)

    @cached_property
    def mean_limit(self) -> Fraction | None:
        """`mean_below` as a number."""
        return None if self.mean_below is None else Fraction(self.mean_below)

    def admits_mean(self, mean: Fraction) -> bool:
        """Whether a deal with this steady mean is admitted, as far as that goes."""
        return (self.least_mean is None or mean >= self.least_mean) and (
            self.mean_limit is None or mean < self.mean_limit
        )

    def admits_difficulty(self, difficulty: int) -> bool:
        """Whether a deal of this difficulty is admitted, as far as that goes."""
        return self.difficulty_from <= difficulty <= self.difficulty_to

    def differs_from(self, other: "Policy") -> str:
        """Return in what another policy differs, such as `difficulty 1 to 5 and course`; empty if in nothing.

        The version alone is no difference: both admit the same deals.
        """
        values = ((name, getattr(self, name), getattr(other, name)) for name in POLICY_FIELDS)
        return ", ".join(name for name, own, others in values if own != others)

    @property
    def sha256(self) -> str:
        """Hash of the policy, 64 hex digits; two policies with the same hash admit the same deals."""
        return sha256_of((_HASH_TEXT + json.dumps(self.document)).encode("ascii"))

    @property
    def document(self) -> dict[str, object]:
        """The policy as JSON."""
        return {
            "version": self.version,
            "rules": self.rules,
            "mean_from": self.mean_from,
            "mean_below": self.mean_below,
            "difficulty_from": self.difficulty_from,
            "difficulty_to": self.difficulty_to,
            "course": list(self.course),
        }

    @property
    def assignments(self) -> tuple[str, ...]:
        """Every field but the version as `name=value`, as commands accept it."""
        values = {name: value for name, value in self.document.items() if name != "version"}
        values["course"] = ",".join(map(str, self.course))
        return tuple(f"{name}={'none' if value in (None, '') else value}" for name, value in values.items())

    @property
    def admits_text(self) -> str:
        """The policy in words, such as `relaxed, steady mean below 4.5, difficulty 1`."""
        words = [self.rules]
        if self.mean_from is not None:
            words.append(f"steady mean from {self.mean_from}")
        if self.mean_below is not None:
            words.append(f"{'to' if self.mean_from is not None else 'steady mean'} below {self.mean_below}")
        if (self.difficulty_from, self.difficulty_to) != (EASIEST, HARDEST):
            same = self.difficulty_from == self.difficulty_to
            ends = f"{self.difficulty_from}" if same else f"{self.difficulty_from} to {self.difficulty_to}"
            words.append(f"difficulty {ends}")
        return ", ".join(words).replace(", to below", " to below")


@dataclass(frozen=True)
class Level:
    """A level: its name, which is in commands, paths and the column `level`, and its policy.

    Raises:
        UsageError: if the name is not one of a level, or the policy contradicts itself.
    """

    name: str
    policy: Policy

    def __post_init__(self) -> None:
        faults = tuple(policy_faults(self.policy))
        if not LEVEL_NAME.fullmatch(self.name):
            faults = (NAME_FAULT, *faults)
        if faults:
            raise UsageError(f"level {quoted(self.name, _MAX_SHOWN)}: {'; '.join(faults)}")

    @property
    def rules(self) -> Rules:
        """The King rule."""
        return RULES[self.policy.rules]

    @property
    def course(self) -> tuple[int, ...]:
        """The pars of a round's holes."""
        return self.policy.course


def is_level_name(name: str) -> bool:
    """Whether a level may have this name."""
    return LEVEL_NAME.fullmatch(name) is not None and name not in RESERVED_NAMES


def policy_faults(policy: Policy) -> Iterator[str]:
    """Yield what is wrong with a policy, one sentence each."""
    if policy.rules not in RULES:
        yield f"rules is {quoted(policy.rules, _MAX_SHOWN)}; it must be one of {', '.join(RULES)}"
    bounds = (("mean_from", policy.mean_from), ("mean_below", policy.mean_below))
    wrong = [name for name, text in bounds if text is not None and not _DECIMAL.fullmatch(text)]
    yield from (f"{name} must be a number with at most 6 decimals" for name in wrong)
    if not wrong:
        yield from _mean_faults(policy)
    ends = (("difficulty_from", policy.difficulty_from), ("difficulty_to", policy.difficulty_to))
    for name, end in ends:
        if not EASIEST <= end <= HARDEST:
            yield f"{name} is {end}; it must be one of {EASIEST} .. {HARDEST}"
    if policy.difficulty_from > policy.difficulty_to:
        yield f"difficulty_from {policy.difficulty_from} is above difficulty_to {policy.difficulty_to}"


def _mean_faults(policy: Policy) -> Iterator[str]:
    least, limit = policy.least_mean, policy.mean_limit
    from_, below = f"mean_from {policy.mean_from}", f"mean_below {policy.mean_below}"
    if least is not None and limit is not None and least >= limit:
        yield f"{from_} is not less than {below}, so no deal is admitted"
    elif least is not None and least > HIGHEST_SCORE:
        yield f"{from_} is above {HIGHEST_SCORE}, the highest score, so no deal is admitted"
    elif limit is not None and limit <= LOWEST_SCORE:
        yield f"{below} is not above {LOWEST_SCORE}, the lowest score, so no deal is admitted"
    else:
        yield from _course_faults(policy)


def _course_faults(policy: Policy) -> Iterator[str]:
    if policy.course and len(policy.course) != ROUND_HOLES:
        yield f"course has {len(policy.course)} holes; a round has {ROUND_HOLES}"
    possible = possible_pars(policy)
    if set(policy.course) - set(possible):
        course, pars = ",".join(map(str, policy.course)), " or ".join(map(str, possible))
        yield f"course is {course}, but all deals that it admits have par {pars}; use those, or no course"


def possible_pars(policy: Policy) -> tuple[int, ...]:
    """Return the pars that a deal admitted by the bounds of the mean can have, ascending."""
    least = LOWEST_PAR if policy.least_mean is None else par_of_mean(policy.least_mean)
    if policy.mean_limit is None:
        return tuple(range(least, HIGHEST_PAR + 1))
    most = par_of_mean(policy.mean_limit)
    if most > LOWEST_PAR and policy.mean_limit == most - Fraction(1, 2):  # that mean itself is not admitted
        most -= 1
    return tuple(range(least, most + 1))


def decimal_text(value: object) -> str | None:
    """Return a bound of the mean as text, such as `4.5`; None for `none`.

    Raises:
        UsageError: if it is not a number with at most two digits before the point and six after it.
    """
    text = str(value)
    if text == NO_BOUND:
        return None
    if isinstance(value, bool) or not _DECIMAL.fullmatch(text):
        raise UsageError(f"{quoted(text, _MAX_SHOWN)} is not a number with at most 6 decimals, or {NO_BOUND}")
    return format(Decimal(text).normalize() + 0, "f")


def _course(value: object) -> tuple[int, ...]:
    texts = value.split(",") if isinstance(value, str) else value if isinstance(value, tuple | list) else [""]
    if texts == [NO_BOUND]:
        return ()
    return tuple(_whole(text) for text in texts)


def _whole(value: object) -> int:
    text = str(value)
    if not _WHOLE.fullmatch(text):
        raise UsageError(f"{quoted(text, _MAX_SHOWN)} is not a whole number")
    return int(text)


def _text(value: object) -> str:
    return str(value)


_FIELDS: Final[Mapping[str, Callable[[object], object]]] = MappingProxyType(
    {
        "rules": _text,
        "mean_from": decimal_text,
        "mean_below": decimal_text,
        "difficulty_from": _whole,
        "difficulty_to": _whole,
        "course": _course,
    }
)
POLICY_FIELDS: Final = tuple(_FIELDS)
"""What a designer may say of a policy, in settings and with `--set`."""


def changed(policy: Policy | None, changes: Mapping[str, object]) -> Policy:
    """Return a policy with other values; without one, that of a new level.

    Args:
        policy: the policy to change; None for a new level, for which the rules must be given.
        changes: values by field, as text or as numbers; a bound or a course `none` is taken away.

    Raises:
        UsageError: if a field is unknown, a value has the wrong form, or a new level has no rules.
    """
    if policy is not None and not changes:
        return policy
    values: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in _FIELDS:
            known = ", ".join(_FIELDS)
            raise UsageError(f"{quoted(name, _MAX_SHOWN)} is not part of a policy, which has {known}")
        try:
            values[name] = _FIELDS[name](value)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error
    if policy is None:
        if "rules" not in values:
            raise UsageError(f"a new level needs rules, one of {', '.join(RULES)}")
        return Policy(versions.POLICY, **values)
    return dataclasses.replace(policy, version=versions.POLICY, **values)


_EASY_COURSE: Final = (3, 3, 3, 3, 4, 3, 3, 3, 3)
_MEDIUM_COURSE: Final = (3, 5, 3, 5, 4, 5, 3, 5, 3)
_HARD_COURSE: Final = (5, 4, 5, 4, 5, 4, 5, 4, 5)

POLICIES_V1: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "easy": Policy(1, "relaxed", mean_below="4.5", course=_EASY_COURSE),
        "medium": Policy(1, "golf", course=_MEDIUM_COURSE),
        "hard": Policy(1, "dead_king", mean_from="3.5", mean_below="6.5", course=_HARD_COURSE),
    }
)
"""The policies with which pools were made before catalogs recorded them."""

LEVELS: Final[Mapping[str, Level]] = MappingProxyType(
    {
        level.name: level
        for level in (
            Level("easy", Policy(2, "relaxed", mean_below="4.5", difficulty_to=1, course=_EASY_COURSE)),
            Level("medium", Policy(2, "golf", course=_MEDIUM_COURSE)),
            Level(
                "hard",
                Policy(
                    2,
                    "dead_king",
                    mean_from="3.5",
                    mean_below="6.5",
                    difficulty_to=4,
                    course=_HARD_COURSE,
                ),
            ),
        )
    }
)
"""The levels that are built in, from friendly to tough."""

DAILY_NAME: Final = "daily"
FIRST_DAILY: Final = 1  # the version of the definition of the first Daily holes
DAILY_V2_FROM: Final = date(2027, 1, 1)
_DAILY_V1: Final = Level(DAILY_NAME, Policy(1, "golf", mean_from="2.5", mean_below="5.5"))
_WEEK: Final = (1, 1, 2, 2, 3, 3, 4)  # daily v2: the difficulty of each weekday, from Monday
_DAILY_V2: Final = tuple(
    Level(
        DAILY_NAME,
        Policy(
            2,
            "golf",
            mean_from="2.5",
            mean_below="5.5",
            difficulty_from=difficulty,
            difficulty_to=difficulty,
        ),
    )
    for difficulty in _WEEK
)
DAILY_RULES: Final = RULES["golf"]


def daily_version(day: date) -> int:
    """Return the version of the definition that chooses the hole of a date: 1 before 2027, 2 from then on."""
    return 1 if day < DAILY_V2_FROM else 2


def daily_level(day: date, version: int | None = None) -> Level:
    """Return what the Daily hole of a date must be (frozen).

    Args:
        day: the date.
        version: 1 or 2; None for that of the date. An earlier Fairway knew only version 1.
    """
    version = daily_version(day) if version is None else version
    return _DAILY_V1 if version == 1 else _DAILY_V2[day.weekday()]


def level_named(name: str, levels: Mapping[str, Level] = LEVELS) -> Level:
    """Return the level with this name.

    Raises:
        UsageError: if there is none.
    """
    if name not in levels:
        raise UsageError(f"unknown level {quoted(name, _MAX_SHOWN)}; the levels are {', '.join(levels)}")
    return levels[name]
