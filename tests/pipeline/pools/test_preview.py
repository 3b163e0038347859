"""A preview counts what certifying the same numbers one by one admits."""

import math
from collections import Counter

from pipeline.deals.certify import certify
from pipeline.deals.levels import LEVELS, Level, changed
from pipeline.deals.shuffle import deal_numbered
from pipeline.pools.preview import preview
from pipeline.work.executors import Work
from tests.support.doubles import Inline

HARD = Level("hard", changed(LEVELS["hard"].policy, {"difficulty_to": 3}))


def test_a_preview_counts_what_is_admitted_one_by_one() -> None:
    found = preview(HARD, 100, 90, Work(Inline()))
    deals = [certify(HARD, deal_numbered(number), number) for number in range(100, 190)]
    admitted = [deal for deal in deals if deal is not None]
    assert found.means == tuple(deal.distribution.mean for deal in admitted)
    assert found.pars == dict(sorted(Counter(deal.par for deal in admitted).items()))
    assert found.difficulties == dict(sorted(Counter(deal.difficulty for deal in admitted).items()))
    assert (found.sampled, found.admitted) == (90, len(admitted))
    assert found.admitted <= found.cleared < 90


def test_what_a_night_and_a_round_take_follows_from_the_shares() -> None:
    found = preview(HARD, 100, 90, Work(Inline()))
    assert found.shuffles_for(found.admitted) == 90
    shares = {par: count / found.admitted for par, count in found.pars.items()}
    expected = max(5 / shares[5], 4 / shares[4]) if {4, 5} <= set(shares) else math.inf
    assert found.deals_per_round == expected


def test_a_policy_that_admits_nothing_of_a_sample_has_no_estimates() -> None:
    level = Level("hard", changed(HARD.policy, {"mean_from": "34", "mean_below": "35", "course": "none"}))
    found = preview(level, 0, 20, Work(Inline()))
    assert (found.admitted, found.mean, found.shuffles_for(5), found.seconds_for(5)) == (0, None, None, None)
    assert found.deals_per_round is None
