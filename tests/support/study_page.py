"""The results page of the study of winnability, written from its counts so that it cannot say anything else.

`python -m tests.support.study_page` makes `README.md` and `chart.svg` beside the counts again.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.studies.statistics import Mean
from pipeline.studies.study_chart import study_chart
from pipeline.studies.study_schema import read_whole
from pipeline.studies.winnability import SCORES, Findings, findings
from solver.table.rules import RULES
from tests.support.reference import REFERENCE

FOLDER = REFERENCE / "study"

KNOWN = {"relaxed": "about 93 %", "golf": "45.109 % ± 0.032 %", "dead_king": "about 26 %"}
RANKS = {"A": "Ace", "Q": "Queen", "K": "King"}
UNKNOWN = "\N{EN DASH}"
MADE_WITH = "Fairway 0.1.0 (shuffle 1, rules 1), Python 3.11, numba 0.68 and pyarrow 26"
SIGNIFICANT = 0.05

Results = Mapping[str, Findings]

HEAD = """\
# How many deals can be cleared, and how well

{deals} deals under each rules, numbers 0 to {last} of shuffle v1, each solved exactly: verdict and best score
are proved by exhaustion, with no node limit and no deal given up. A number is hashed into its shuffle, so
consecutive numbers are a random sample of all deals; the three samples are the same deals.

| rules | on a King | on an Ace | can be cleared | share | 95 % interval (Wilson) | known before |
| --- | --- | --- | ---: | ---: | --- | --- |
"""

CHART = """
![The distribution of best scores under each rules](chart.svg)

**Held against what is published.** {source}
give 45.109 % ± 0.032 % for `golf`, from {theirs} deals. The test of two proportions gives z = {z:+.2f},
p = {p:.2f}: the two {verdict}. For `relaxed` and `dead_king` we know of no exact figures, and of no
distribution of best scores under any rules.

## The best score

Cards left in the columns; once they are cleared, minus the number of stock cards not drawn. Means with
their 95 % intervals (normal approximation) and standard deviations.

| rules | mean of those that can be cleared | sd | mean of all deals | sd | best seen | worst seen |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""

SCORE_HEAD = """
How many of the {deals} deals have each best score:

"""

FEWEST_NOTE = """
{dash}: not counted. The fewest cards left of deals that cannot be cleared are found with `--fewest` only.
"""

TAIL = """
## The files

{files}: one row for each 10,000 deal numbers, with the
columns `rules`, `fewest`, `first`, `count`, `cleared` and `scores` (how many deals have each of the best
scores -16 .. 35, in that order). Each column's meaning and unit stand in the metadata of its field. With
DuckDB, in this folder:

```sql
select rules, sum(cleared) / sum(count) as share from '*.parquet' group by rules;
```

## Exact commands

```sh
{commands}
```

A study that was stopped is taken up again by the same command. The counts do not depend on the number of
workers. `python -m tests.support.study_page` writes this page and the chart from the counts; tests hold
them against each other, and `pytest -m soak` counts some blocks anew, with the solver and with the yardstick
in C.

Made with {made_with}.
"""


def results() -> Results:
    """What the committed counts say, by rules."""
    return {rules: findings(read_whole((FOLDER / f"{rules}.parquet").read_bytes(), rules)) for rules in RULES}


def page(results: Results) -> str:
    """The text of `README.md`."""
    golf = results["golf"]
    assert golf.comparison is not None
    study, apart = golf.whole.study, golf.comparison.difference
    deals = f"{study.count:,}"
    parts = [
        HEAD.format(deals=deals, last=f"{study.last:,}"),
        *(f"{share_row(found)}\n" for found in results.values()),
        CHART.format(
            source=golf.comparison.published.source,
            theirs=f"{golf.comparison.published.sample.trials:,}",
            z=apart.z,
            p=apart.p,
            verdict="agree" if apart.p >= SIGNIFICANT else "differ",
        ),
        *(f"{mean_row(found)}\n" for found in results.values()),
        SCORE_HEAD.format(deals=deals),
        *(f"{row}\n" for row in score_rows(results)),
    ]
    if not all(found.whole.study.fewest for found in results.values()):
        parts.append(FEWEST_NOTE.format(dash=UNKNOWN))
    files = ", ".join(f"`{rules}.parquet`" for rules in results)
    parts.append(TAIL.format(files=files, commands="\n".join(commands(results)), made_with=MADE_WITH))
    return "".join(parts)


def commands(results: Results) -> Iterator[str]:
    for rules, found in results.items():
        study = found.whole.study
        fewest = " --fewest" if study.fewest else ""
        yield f"fairway study winnability --rules {rules} --deals {study.count}{fewest} -o {rules}.parquet"
    yield f"fairway study chart {' '.join(f'{rules}.parquet' for rules in results)} -o chart.svg"


def share_row(found: Findings) -> str:
    rules = RULES[found.whole.study.rules]
    interval = f"{percent(found.interval.low)} to {percent(found.interval.high)}"
    return row(
        f"`{rules.name}`",
        ranks(rules.on_king),
        ranks(rules.on_ace),
        f"{found.whole.cleared:,}",
        percent(found.share),
        interval,
        KNOWN[rules.name],
    )


def mean_row(found: Findings) -> str:
    seen = [score for score, count in zip(SCORES, found.whole.scores, strict=True) if count]
    worst = signed(str(seen[-1])) if found.whole.study.fewest else UNKNOWN
    means = [*mean_cells(found.cleared_mean), *mean_cells(found.mean)]
    return row(f"`{found.whole.study.rules}`", *means, signed(str(seen[0])), worst)


def mean_cells(mean: Mean | None) -> tuple[str, str]:
    if mean is None or mean.spread is None:
        return UNKNOWN, UNKNOWN
    return f"{signed(f'{mean.value:+.4f}')} ± {mean.spread.margin:.4f}", f"{mean.spread.sd:.3f}"


def score_rows(results: Results) -> Iterator[str]:
    yield row("best score", *(cell for rules in results for cell in (f"`{rules}`", "share")))
    yield row(*["---:"] * (1 + 2 * len(results)))
    wholes = [found.whole for found in results.values()]
    seen = [at for at in range(len(SCORES)) if any(whole.scores[at] for whole in wholes)]
    for at in range(seen[0], seen[-1] + 1):
        known = [whole.study.fewest or SCORES[at] <= 0 for whole in wholes]
        cells = [
            count_cells(whole.scores[at], whole.study.count) if is_known else (UNKNOWN, UNKNOWN)
            for whole, is_known in zip(wholes, known, strict=True)
        ]
        yield row(signed(str(SCORES[at])), *(cell for pair in cells for cell in pair))
    rest = [count_cells(whole.study.count - whole.cleared, whole.study.count) for whole in wholes]
    yield row("all above 0", *(cell for pair in rest for cell in pair))


def count_cells(count: int, of: int) -> tuple[str, str]:
    return f"{count:,}", percent(count / of)


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def ranks(letters: str) -> str:
    return " or ".join(RANKS.get(letter, letter) for letter in letters) or "nothing"


def percent(share: float) -> str:
    return f"{100 * share:.3f} %"


def signed(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def chart(results: Results) -> str:
    """The text of `chart.svg`."""
    return study_chart([found.whole for found in results.values()])


def write(folder: Path, results: Results) -> None:
    (folder / "README.md").write_text(page(results), "utf-8")
    (folder / "chart.svg").write_text(chart(results), "utf-8")


if __name__ == "__main__":
    write(FOLDER, results())
