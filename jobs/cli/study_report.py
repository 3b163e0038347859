"""What a study found, as a document for programs and as text for people."""

from typing import Any, Final

from jobs.terminal.output import put_table, say
from pipeline.studies.statistics import Mean
from pipeline.studies.winnability import SCORES, Comparison, Findings
from pipeline.versions import STUDY_VERSIONS

_PERCENT: Final = 100
_SIGNIFICANT: Final = 0.05  # from this p on, two shares are told to agree


def document_of(found: Findings) -> dict[str, Any]:
    """Findings as a document: keys in a fixed order, null for what was not asked for or is not known."""
    whole = found.whole
    scores = [count if whole.study.fewest or score <= 0 else None for score, count in _counts(found)]
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
        "scores": scores,
        "cleared_mean": _mean_document(found.cleared_mean),
        "mean": _mean_document(found.mean),
        "comparison": _comparison_document(found.comparison),
        "versions": dict(STUDY_VERSIONS),
    }


def tell(found: Findings) -> None:
    """Print findings for people."""
    study, cleared = found.whole.study, found.whole.cleared
    say(f"{study.count:,} deals under {study.rules}, numbers {study.first} to {study.last}\n")
    say(f"can be cleared  {cleared:,}: {_share(found.share)}")
    say(f"95 % interval   {_share(found.interval.low)} to {_share(found.interval.high)} (Wilson)")
    _tell_mean("of those", found.cleared_mean)
    _tell_mean("of all", found.mean)
    _tell_comparison(found)
    say()
    shown = [(score, count) for score, count in _counts(found) if count]
    rows = [(f"{score}", f"{count:,}", _share(count / study.count)) for score, count in shown]
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


def _counts(found: Findings) -> list[tuple[int, int]]:
    return list(zip(SCORES, found.whole.scores, strict=True))


def _tell_mean(whose: str, mean: Mean | None) -> None:
    if mean is None:
        return
    said = f"mean {whose:<11}{mean.value:.4f}"
    if mean.spread is not None:
        said += f" +- {mean.spread.margin:.4f} (95 %), standard deviation {mean.spread.sd:.3f}"
    say(said)


def _tell_comparison(found: Findings) -> None:
    if found.comparison is None:
        say(f"elsewhere       no exact figure for {found.whole.study.rules} is known to us")
        return
    theirs, apart = found.comparison.published, found.comparison.difference
    verdict = "agrees" if apart.p >= _SIGNIFICANT else "differs"
    say(f"elsewhere       {_share(theirs.sample.share)} of {theirs.sample.trials:,}: {theirs.source}")
    say(f"comparison      {verdict}: two proportions, z = {apart.z:+.2f}, p = {apart.p:.3f}")


def _share(share: float) -> str:
    return f"{share * _PERCENT:.3f} %"
