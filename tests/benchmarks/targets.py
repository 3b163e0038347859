"""The limits of all figures.

Ratios to the yardstick are ratios of processor time. In a full run a target without a figure counts as
failed, so that renaming a figure cannot remove its limit.
"""

from types import MappingProxyType
from typing import Final

from solver.table.rules import RULES
from tests.benchmarks.figures import Target, Targets

_VERDICT: Final = {
    "golf": Target(0.15, 0.09),
    "dead_king": Target(0.10, 0.055),
    "relaxed": Target(0.21, 0.12),
}
_FEWEST: Final = Target(1.0)
_STEADY: Final = Target(600.0)  # us per deal
_VARIED: Final = {
    "golf": Target(0.6, 0.2),
    "relaxed": Target(1.6, 0.53),
    "dead_king": Target(0.35, 0.117),
}
# MB per worker. It was 16 before a worker rated deals by the varied player, whose arrays take 4 to 7 MB.
_MEMORY: Final = Target(24.0)
_HINT: Final = {"median": Target(5.0), "99th percentile": Target(40.0)}  # ms
_MILLION: Final = "1,000,000 rows"

TARGETS: Final[Targets] = MappingProxyType(
    {
        **{("search", f"{rules}: verdict to yardstick"): target for rules, target in _VERDICT.items()},
        **{("command", f"{rules}: command to yardstick"): target for rules, target in _VERDICT.items()},
        **{("search", f"{rules}: fewest to yardstick"): _FEWEST for rules in RULES},
        **{("search", f"{rules}: fewest to yardstick, not cleared"): _FEWEST for rules in RULES},
        ("command", "status after a night"): Target(500.0),  # ms
        **{("steady", f"{rules}: steady player"): _STEADY for rules in RULES},
        **{("varied", f"{rules}: varied player to yardstick"): target for rules, target in _VARIED.items()},
        **{
            ("hints", f"{rules}: hint, {percentile}"): target
            for rules in RULES
            for percentile, target in _HINT.items()
        },
        ("varied", "a Daily hole from 2027 on"): Target(200.0),  # ms
        # It was 450 before each deal was rated by the varied player as well, which takes most of the time.
        ("pipeline", "medium: certified by one core"): Target(200.0, sense="at least"),
        ("pipeline", "medium: two threads to one"): Target(1.8, sense="at least"),
        ("memory", "a worker alone"): _MEMORY,
        ("memory", "each of two workers"): _MEMORY,
        ("queries", f"group by par, {_MILLION}"): Target(50.0),  # ms
        ("queries", f"look-up by number, {_MILLION}"): Target(20.0),  # ms
        ("queries", f"pool status, {_MILLION}"): Target(500.0),  # ms
        ("scale", f"peak in all, {_MILLION}"): Target(1000.0),  # MB
    }
)
