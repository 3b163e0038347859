"""The reason for a hint: one of a small vocabulary of statements that are true of the position.

A statement has a code and values, for programs with wording of their own, and an English sentence.
`SENTENCES` lists every code. `_CONDITIONS`, in order of precedence, decide whether a statement is true of the
chosen move, and with which values; the first true statement is the reason.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from solver.cards import RANK_LETTERS, rank_of
from solver.coach.choice import Choice
from solver.table.moves import DRAW, Position
from solver.table.rules import Rules
from solver.table.score import score_of

Value = int | str
Values = Mapping[str, Value]

SENTENCES: Final = {
    "cleared": "the columns are cleared, with a score of {score}",
    "stuck": "no card fits and the stock is used up, with {cards_left} left",
    "cannot_clear": "the columns cannot be cleared; this leaves {cards_left}, the fewest possible",
    "only_clear": "it is the only move that still clears",
    "nothing_fits": "no card fits",
    "only_move": "it is the only legal move",
    "draw_better": "drawing now is better than playing: the best play gives away {gives_away}",
    "uncovers": "it uncovers the {rank} that the {needed_by_rank} on column {column} needs",
    "run_ender": "the {rank} on column {column} would end the run, so play it last",
    "longest_run": "it starts a run of {length}, longer than any other",
    "saves_stock": "it saves {stock_cards}",
    "keeps_best": "it keeps the best score still possible, {best_score}",
}

_RANK_NAMES: Final = {"A": "Ace", "T": "10", "J": "Jack", "Q": "Queen", "K": "King"}


@dataclass(frozen=True, slots=True)
class Reason:
    """One true statement about a hinted move, or about a hole that is over.

    Attributes:
        code: a key of `SENTENCES`.
        values: the values in the sentence; ranks are letters, columns count from 1.
        text: the English sentence, without a capital letter or full stop.
    """

    code: str
    values: Values
    text: str


def reason_for(choice: Choice) -> Reason:
    """Return the first statement of the vocabulary that is true of a chosen move."""
    checked = ((code, condition(choice)) for code, condition in _CONDITIONS.items())
    return next(_reason(code, values) for code, values in checked if values is not None)


def reason_when_over(position: Position) -> Reason:
    """Return the statement for a position without a legal move."""
    if position.cards_left:
        return _reason("stuck", {"cards_left": position.cards_left})
    return _reason("cleared", {"score": score_of(0, position.draws)})


# -- conditions: each returns the values of its statement if that is true, else None ----------------------


def _cannot_clear(choice: Choice) -> Values | None:
    return None if choice.analysis.clearable else {"cards_left": choice.analysis.best_score}


def _only_clear(choice: Choice) -> Values | None:
    is_only = choice.others and not any(other.clearable for other in choice.others)
    return {} if choice.move.clearable and is_only else None


def _nothing_fits(choice: Choice) -> Values | None:
    return None if choice.is_play or choice.others else {}


def _only_move(choice: Choice) -> Values | None:
    return None if choice.others else {}


def _draw_better(choice: Choice) -> Values | None:
    """The draw was chosen although plays come first in the order of preference, so every play is worse."""
    lost = min((play.gives_away for play in choice.other_plays), default=0)
    return {"gives_away": lost} if not choice.is_play and lost else None


def _uncovers(choice: Choice) -> Values | None:
    position, uncovered = choice.analysis.position, choice.uncovered
    if uncovered is None:
        return None
    for column, card in _cards_to_play(position):
        if _supports(position, choice.analysis.rules, card) == [uncovered]:
            return {
                "rank": RANK_LETTERS[rank_of(uncovered)],
                "needed_by_rank": RANK_LETTERS[rank_of(card)],
                "column": column,
            }
    return None


def _cards_to_play(position: Position) -> Iterator[tuple[int, int]]:
    """Yield each card left in the columns with its column number, each column in the order of play."""
    for column, (cards, height) in enumerate(
        zip(position.deal.columns, position.heights, strict=True), start=1
    ):
        yield from ((column, card) for card in reversed(cards[:height]))


def _supports(position: Position, rules: Rules, card: int) -> list[int]:
    """Return the cards that a column card can be played on and that can still be on the waste before it.

    These are the undrawn stock cards, the column cards that it does not cover, and, if the card can be played
    next, the waste top.
    """
    before = list(position.undrawn)
    for cards, height in zip(position.deal.columns, position.heights, strict=True):
        left = cards[:height]
        before += left[left.index(card) + 1 :] if card in left else left
    if card in position.last_cards:
        before.append(position.top)
    return [support for support in before if rules.allows(rank_of(card), rank_of(support))]


def _run_ender(choice: Choice) -> Values | None:
    """Some card, if played now, would cost points and end the run; the chosen moves play it last."""
    position, rules = choice.analysis.position, choice.analysis.rules
    for other in choice.other_plays:
        after = position.play(other.move)
        if other.gives_away and after.legal_moves(rules) in ("", DRAW) and _is_last(other.move, choice):
            return {
                "rank": RANK_LETTERS[rank_of(after.top)],
                "column": int(other.move),
                "gives_away": other.gives_away,
            }
    return None


def _is_last(play: str, choice: Choice) -> bool:
    """Whether a column's last card is the last card of the chosen run."""
    return choice.first_run.endswith(play) and choice.first_run.count(play) == 1


def _longest_run(choice: Choice) -> Values | None:
    if not choice.is_play or not choice.other_plays:
        return None
    length = choice.runs[choice.move.move].length
    is_longest = length > max(choice.runs[other.move].length for other in choice.other_plays)
    return {"length": length} if is_longest and length == len(choice.first_run) else None


def _saves_stock(choice: Choice) -> Values | None:
    draws = [other for other in choice.others if other.move == DRAW]
    if draws and draws[0].clearable and draws[0].gives_away:
        return {"stock_cards": draws[0].gives_away}
    return None


def _keeps_best(choice: Choice) -> Values:
    return {"best_score": choice.analysis.best_score}


_CONDITIONS: Final[Mapping[str, Callable[[Choice], Values | None]]] = {
    "cannot_clear": _cannot_clear,
    "only_clear": _only_clear,
    "nothing_fits": _nothing_fits,
    "only_move": _only_move,
    "draw_better": _draw_better,
    "uncovers": _uncovers,
    "run_ender": _run_ender,
    "longest_run": _longest_run,
    "saves_stock": _saves_stock,
    "keeps_best": _keeps_best,
}


# -- wording ----------------------------------------------------------------------------------------------


def _reason(code: str, values: Values) -> Reason:
    words = {name: _WORDS.get(name, str)(value) for name, value in values.items()}
    return Reason(code, values, SENTENCES[code].format_map(words))


def _rank_name(letter: Value) -> str:
    return _RANK_NAMES.get(str(letter), str(letter))


_WORDS: Final[Mapping[str, Callable[[Value], str]]] = {
    "rank": _rank_name,
    "needed_by_rank": _rank_name,
    "cards_left": lambda count: "1 card" if count == 1 else f"{count} cards",
    "stock_cards": lambda count: "a stock card" if count == 1 else f"{count} stock cards",
}
