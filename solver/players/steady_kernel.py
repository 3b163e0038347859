"""The kernel of the steady player: the masses of the 52 scores of a deal, in 64-bit integers.

Sets of cards are those of `solver.players.cards_kernel`.

**Positions.** The key of a position is `exposed | top << 35 | draws << 39`. Only positions with a legal play
get a row. If nothing fits the player draws, and a draw does not split the mass: such a play leads directly to
the position after the next stock card that fits, or to the end of the hole. Rows 0 .. 51 are those ends, one
per score from -16; the positions follow in the order in which they are found: by cards left, descending.

**Phases.** `_find_positions` lists the positions that can be reached, and their plays; `_value_plays` goes
through them backwards and values each play; `_pass_mass` goes through them forwards and distributes the mass.
All of a position's mass has arrived before its turn, because every play leads to one card less.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from solver.jit import inlined, kernel
from solver.players.cards_kernel import (
    ALL_EXPOSED,
    CARD_RANK,
    PLACE_MODULUS,
    Flags,
    Words,
    card_tables,
    without,
)
from solver.players.distribution import TOTAL_MASS
from solver.table.deal import COLUMN_COUNT, STOCK_SIZE, TABLEAU_SIZE
from solver.table.score import LOWEST_SCORE, SCORE_COUNT

Indices = npt.NDArray[np.int32]

SLIP_ODDS: Final = 20  # the player slips once in this many plays

# Fields of a row of `positions`. A position's plays end where those of the next row begin.
KEY, FIRST_PLAY, VALUE, MASS = range(4)
POSITION_FIELDS: Final = 4
# Fields of a row of `plays`. A value of 0 is set later, from that of the target.
TARGET, PLAY_VALUE = range(2)
PLAY_FIELDS: Final = 2
CLEARED_ROWS: Final = STOCK_SIZE + 1  # the first rows of `positions`: ends with the columns cleared
LEAST_POSITIONS: Final = SCORE_COUNT + COLUMN_COUNT  # the ends and the opening

_EXPOSED_MASK: Final = (1 << TABLEAU_SIZE) - 1
_TOP_SHIFT: Final = TABLEAU_SIZE
_TOP_MASK: Final = 15
_DRAWS_SHIFT: Final = _TOP_SHIFT + 4

# Two multipliers of 40 bits for the two halves of a key, of 22 bits each: the hash fits into 63 bits.
_HALF_SHIFT: Final = 22
_HALF_MASK: Final = (1 << _HALF_SHIFT) - 1
_LOW_MULTIPLIER: Final = 0x9E3779B97F
_HIGH_MULTIPLIER: Final = 0xC2B2AE3D27
_HASH_SHIFT: Final = 32

# A value is the length of a run and the openness it leaves (at most 13) in one number, so that it compares.
_ONE_PLAY: Final = 16


@kernel
def spread_each(
    ranks: Words, allowed: Flags, positions: Words, plays: Indices, slots: Indices, masses: Words, first: int
) -> int:
    """Compute the mass of each score on each deal; one call does many, as in the search.

    Args:
        ranks: n by 52; the ranks of each deal, in the order of `Deal.cards`.
        allowed: as in `_spread_mass`.
        positions: as in `_spread_mass`.
        plays: as in `_spread_mass`.
        slots: as in `_spread_mass`.
        masses: n by 52; filled with the masses, from row `first` on.
        first: index of the first deal.

    Returns:
        Index of the deal for which the workspace was too small; n if it was large enough for all.
    """
    for n in range(first, len(ranks)):
        if not _spread_mass(ranks[n], allowed, positions, plays, slots):
            return n
        for score in range(SCORE_COUNT):
            masses[n, score] = positions[score, MASS]
    return len(ranks)


@inlined
def _spread_mass(ranks: Words, allowed: Flags, positions: Words, plays: Indices, slots: Indices) -> bool:
    """Compute the mass of each score, into the field `MASS` of the rows 0 .. 51 of `positions`.

    Args:
        ranks: the 52 ranks of the deal, in the order of `Deal.cards`.
        allowed: as in `card_tables`.
        positions: workspace; at least `LEAST_POSITIONS` rows of `POSITION_FIELDS`.
        plays: workspace; at least one row of `PLAY_FIELDS`.
        slots: workspace for the hash table; a power of two.

    Returns:
        False if the workspace is too small for the deal; its content is then undefined.
    """
    end = _find_positions(ranks, allowed, positions, plays, slots)
    if end == 0:
        return False
    _value_plays(positions, plays, end)
    _pass_mass(positions, plays, end)
    return True


@inlined
def _find_positions(ranks: Words, allowed: Flags, positions: Words, plays: Indices, slots: Indices) -> int:
    """List the positions and their plays; return the row after the last one, or 0 if there is no room."""
    stock = ranks[TABLEAU_SIZE + 1 :]
    fits, cards = card_tables(ranks, allowed)
    slots[:] = 0
    positions[:SCORE_COUNT, MASS] = 0

    # The first row of plays is the deal itself, which leads to the first position.
    level = SCORE_COUNT
    key = _next_key(ALL_EXPOSED, ranks[TABLEAU_SIZE], 0, TABLEAU_SIZE, fits, stock)
    plays[0, TARGET] = _row_of(key, positions, slots, level, level)
    end = level + (key >= 0)
    play_end = 1
    for cards_left in range(TABLEAU_SIZE - 1, -1, -1):
        next_level = end
        last_end = min(len(positions) - 1, next_level + len(slots) // 2) - COLUMN_COUNT
        for row in range(level, next_level):
            if end > last_end or play_end > len(plays) - COLUMN_COUNT:
                return 0
            positions[row, FIRST_PLAY] = play_end
            key = positions[row, KEY]
            exposed = key & _EXPOSED_MASK
            draws = key >> _DRAWS_SHIFT
            legal = exposed & fits[key >> _TOP_SHIFT & _TOP_MASK]
            while legal:
                card = legal & -legal
                legal ^= card
                left = without(card, exposed)
                top = cards[card % PLACE_MODULUS, CARD_RANK]
                after = _next_key(left, top, draws, cards_left, fits, stock)
                target = _row_of(after, positions, slots, next_level, end)
                end += target == end
                plays[play_end, TARGET] = target
                plays[play_end, PLAY_VALUE] = 0 if left & fits[top] else _ONE_PLAY + _openness(left, fits)
                play_end += 1
        level = next_level
    positions[end, FIRST_PLAY] = play_end
    return end


@inlined
def _next_key(exposed: int, top: int, draws: int, cards_left: int, fits: Words, stock: Words) -> int:
    """Return the key of the next position with a legal play, or `~row` of the score if the hole ends."""
    if exposed == 0:
        return ~(draws - len(stock) - LOWEST_SCORE)
    while not exposed & fits[top]:
        if draws == len(stock):
            return ~(cards_left - LOWEST_SCORE)
        top = stock[draws]
        draws += 1
    return exposed | top << _TOP_SHIFT | draws << _DRAWS_SHIFT


@inlined
def _row_of(key: int, positions: Words, slots: Indices, level: int, end: int) -> int:
    """Return the row of a result of `_next_key`; a position that is new in its level is added at row `end`.

    Two positions can only be equal within a level, whose rows begin at `level`. A slot with an earlier row is
    free, so the hash table is small and does not have to be emptied between levels.
    """
    if key < 0:
        return ~key
    spread = (key & _HALF_MASK) * _LOW_MULTIPLIER + (key >> _HALF_SHIFT) * _HIGH_MULTIPLIER
    slot = spread >> _HASH_SHIFT & len(slots) - 1
    row: int = slots[slot]
    while row >= level:
        if positions[row, KEY] == key:
            return row
        slot = slot + 1 & len(slots) - 1
        row = slots[slot]
    slots[slot] = end
    positions[end, KEY] = key
    positions[end, MASS] = 0
    return end


@inlined
def _openness(exposed: int, fits: Words) -> int:
    """Return the number of ranks on which some column's last card could be played."""
    openness = 0
    for cards in fits:
        openness += exposed & cards != 0
    return openness


@inlined
def _value_plays(positions: Words, plays: Indices, end: int) -> None:
    """Value each play by the best run that begins with it, from the last position to the first."""
    for row in range(end - 1, SCORE_COUNT - 1, -1):
        best = 0
        for play in range(positions[row, FIRST_PLAY], positions[row + 1, FIRST_PLAY]):
            if plays[play, PLAY_VALUE] == 0:
                plays[play, PLAY_VALUE] = _ONE_PLAY + positions[plays[play, TARGET], VALUE]
            best = max(best, plays[play, PLAY_VALUE])
        positions[row, VALUE] = best


@inlined
def _pass_mass(positions: Words, plays: Indices, end: int) -> None:
    """Distribute the mass over the plays, from the first position to the last."""
    positions[plays[0, TARGET], MASS] = TOTAL_MASS
    for row in range(SCORE_COUNT, end):
        mass, best = positions[row, MASS], positions[row, VALUE]
        first, after = positions[row, FIRST_PLAY], positions[row + 1, FIRST_PLAY]
        if after - first == 1:  # most positions: nothing to divide
            positions[plays[first, TARGET], MASS] += mass
            continue
        best_count, lowest_best = 0, first
        for play in range(after - 1, first - 1, -1):
            if plays[play, PLAY_VALUE] == best:
                best_count, lowest_best = best_count + 1, play
        slip = mass // (SLIP_ODDS * (after - first))
        rest = mass - slip * (after - first)
        share = rest // best_count
        for play in range(first, after):
            positions[plays[play, TARGET], MASS] += slip + (share if plays[play, PLAY_VALUE] == best else 0)
        positions[plays[lowest_best, TARGET], MASS] += rest - share * best_count
