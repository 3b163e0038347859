"""The report: a table for people, a document for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

from tests.benchmarks.figures import Figure, Figures, Judgement, Name, Target, Targets

_HEADINGS = ("", "unit", "median", "least .. most", "must", "aim", "")
_LEFT = (0, 1, 6)  # columns of text
_DIGITS = ((100, 0), (10, 1), (1, 2))  # decimals by the least size of a number
_MAX_DIGITS = 4


def table(subject: str, figures: Sequence[Figure], targets: Targets) -> str:
    """Return the figures of a subject, one per line, with a heading."""
    rows = [(subject, *_HEADINGS[1:]), *(_row(each, targets.get((subject, each.name))) for each in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(f"{_line(row, widths)}\n" for row in rows)


def _row(figure: Figure, target: Target | None) -> tuple[str, ...]:
    spread = figure.spread
    measured = (
        f"  {figure.name}",
        figure.unit,
        shown(spread.median),
        f"{shown(spread.least)} .. {shown(spread.most)}",
    )
    if target is None:
        return (*measured, "", "", "")
    sign = "<=" if target.sense == "at most" else ">="
    aim = "" if target.aim is None else f"{sign} {target.aim:g}"
    return (*measured, f"{sign} {target.must:g}", aim, target.verdict(spread.median))


def _line(row: Iterable[str], widths: Sequence[int]) -> str:
    cells = (
        cell.ljust(width) if place in _LEFT else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def shown(value: float) -> str:
    """Format a number with about three significant digits."""
    digits = next((digits for least, digits in _DIGITS if abs(value) >= least), _MAX_DIGITS)
    return f"{value:,.{digits}f}"


def failures(judgement: Judgement, found: Figures, targets: Targets) -> str:
    """Return one line per target that was not reached; empty if all were."""
    medians = {
        (subject, figure.name): figure.spread.median for subject, each in found.items() for figure in each
    }
    limits = {name: f"must be {targets[name].sense} {targets[name].must:g}" for name in judgement.failed}
    lines = [f"FAILED: {_called(name)} is {shown(medians[name])}, {limit}" for name, limit in limits.items()]
    lines += [f"not measured: {_called(name)}" for name in judgement.missing]
    return "".join(f"{line}\n" for line in lines)


def document(found: Figures, targets: Targets, judgement: Judgement, about: dict[str, Any]) -> dict[str, Any]:
    """Return everything as a document, with the values of all rounds.

    Args:
        found: the figures by subject.
        targets: their limits.
        judgement: the targets not reached.
        about: further entries, which come first.
    """
    return {
        **about,
        "figures": [
            {
                "subject": subject,
                "name": figure.name,
                "unit": figure.unit,
                "median": figure.spread.median,
                "least": figure.spread.least,
                "most": figure.spread.most,
                "values": list(figure.values),
                **_limits(targets.get((subject, figure.name)), figure.spread.median),
            }
            for subject, figures in found.items()
            for figure in figures
        ],
        "failed": [_called(name) for name in judgement.failed],
        "not_measured": [_called(name) for name in judgement.missing],
    }


def _limits(target: Target | None, median: float) -> dict[str, Any]:
    if target is None:
        return {}
    return {
        "must": target.must,
        "aim": target.aim,
        "sense": target.sense,
        "verdict": target.verdict(median),
    }


def _called(name: Name) -> str:
    return ", ".join(name)
