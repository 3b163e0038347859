"""The findings of a study, as a JSON document and as text."""

from typing import Any, Final

from jobs.terminal.output import say
from jobs.terminal.tables import put_table
from pipeline.studies.statistics import Mean
from pipeline.studies.winnability import SCORES, Comparison, Findings
from pipeline.versions import STUDY_VERSIONS
from solver.table.score import CLEARED_SCORES

_PERCENT: Final = 100
_SIGNIFICANT: Final = 0.05  # shares with at least this p-value are said to agree


def findings_document(found: Findings) -> dict[str, Any]:
    """Return findings as a JSON document; null means not counted or not known."""
    whole = found.whole
    counted = len(SCORES) if whole.study.fewest else CLEARED_SCORES
    return {
        "study": "winnability",
        "rules": whole.study.rules,
        "fewest": whole.study.fewest,
        "first": whole.study.first,
        "deals": whole.study.count,
        "cleared": whole.cleared,
        "share": found.share,
        "wilson_95": [found.interval.low, found.interval.high],
        "lowest_score": SCORES[0],
        "scores": [*whole.scores[:counted], *[None] * (len(SCORES) - counted)],
        "cleared_mean": _mean_document(found.cleared_mean),
        "mean": _mean_document(found.mean),
        "comparison": _comparison_document(found.comparison),
        "versions": dict(STUDY_VERSIONS),
    }


def print_findings(found: Findings) -> None:
    """Print findings as text."""
    study, cleared = found.whole.study, found.whole.cleared
    say(f"{study.count:,} deals under {study.rules}, numbers {study.first} to {study.last}\n")
    say(f"can be cleared  {cleared:,}: {_share(found.share)}")
    say(f"95 % interval   {_share(found.interval.low)} to {_share(found.interval.high)} (Wilson)")
    _print_mean("of those", found.cleared_mean)
    _print_mean("of all", found.mean)
    _print_comparison(found)
    say()
    rows = [
        (f"{score}", f"{count:,}", _share(count / study.count))
        for score, count in zip(SCORES, found.whole.scores, strict=True)
        if count
    ]
    if not study.fewest:
        rest = study.count - cleared
        rows.append(("not cleared", f"{rest:,}", _share(rest / study.count)))
    put_table([("best score", True), ("deals", True), ("share", True)], rows)


def _mean_document(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None:
        return None
    spread = mean.spread
    return {
        "deals": mean.size,
        "mean": mean.value,
        "sd": spread and spread.sd,
        "normal_95": spread and [spread.interval.low, spread.interval.high],
    }


def _comparison_document(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    return {
        "source": comparison.published.source,
        "deals": comparison.published.sample.trials,
        "cleared": comparison.published.sample.successes,
        "z": comparison.difference.z,
        "p": comparison.difference.p,
    }


def _print_mean(of: str, mean: Mean | None) -> None:
    if mean is None:
        return
    text = f"mean {of:<11}{mean.value:.4f}"
    if mean.spread is not None:
        text += f" +- {mean.spread.margin:.4f} (95 %), standard deviation {mean.spread.sd:.3f}"
    say(text)


def _print_comparison(found: Findings) -> None:
    if found.comparison is None:
        say(f"published       no exact figure for {found.whole.study.rules} is known")
        return
    published, difference = found.comparison.published, found.comparison.difference
    verdict = "agrees" if difference.p >= _SIGNIFICANT else "differs"
    say(
        f"published       {_share(published.sample.share)} of {published.sample.trials:,}: {published.source}"
    )
    say(f"comparison      {verdict}: two proportions, z = {difference.z:+.2f}, p = {difference.p:.3f}")


def _share(share: float) -> str:
    return f"{share * _PERCENT:.3f} %"
