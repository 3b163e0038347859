"""The kernel of the varied player: the mass of the cleared holes of a deal, in 64-bit integers.

Mass on positions from which the columns cannot be cleared never counts, and that is nearly all of them. So
the positions that matter are found first:

1. The sweep of the exact search, with all 16 draws, lists the tables that can be reached and that the bound
   does not refute.
2. `_limit_draws` goes through them backwards and replaces their cells. With the same table and waste top,
   fewer draws are never worse. So byte r is the *limit* with r as the waste top: the columns can still be
   cleared if and only if fewer cards than that have been drawn. Byte 15 is the largest number of draws at
   which the stock card then on top still leads to a clear.
3. `_pass_mass` goes through them forwards, level by level, and passes on mass only to plays within their
   limits. A position is a table, a waste top and a number of draws; which plays are legal, and what they
   weigh, does not depend on the draws.

Sets of cards are those of `solver.players.cards_kernel`; a packed table is that of the search.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from solver.cards import RANK_COUNT
from solver.jit import inlined, kernel
from solver.players.cards_kernel import (
    ALL_EXPOSED,
    CARD_RANK,
    PLACE_MODULUS,
    STEP,
    card_tables,
    without,
)
from solver.players.distribution import TOTAL_MASS
from solver.players.run_kernel import next_stamp, run_length
from solver.search.sweep_kernel import (
    LOW_COLUMNS,
    LOW_TABLES,
    NO_RANK,
    STEPS,
    Buffers,
    RuleTables,
    fill_columns,
    fill_stock,
    sweep,
    wipe,
)
from solver.search.vector import CELL_BYTES, largest
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, STOCK_SIZE, TABLEAU_SIZE

ALL_RANKS: Final = CELL_BYTES - 1  # in `supports`, the row that has its value at every rank

DRAW_COUNTS: Final = STOCK_SIZE + 1
# Fields of a row of `entries`.
RANK, NEXT, EXPOSED, FIRST = range(4)
ENTRY_FIELDS: Final = 4
# Fields of a row of `masses`: the mass, and the number of draws with the next row of the same entry.
MASS, LINK = range(2)
MASS_FIELDS: Final = 2
MASSES_PER_ENTRY: Final = 4  # rows of `masses` for each of `entries`; about two are in use
_LINK_SHIFT: Final = 5
_LINK_DRAWS: Final = (1 << _LINK_SHIFT) - 1
# Fields of a row of `plays`; the cards, limits and weights of the plays follow.
COUNT, LIMIT, TOTAL, FAVOURITE, CARDS = range(5)
LIMITS: Final = CARDS + COLUMN_COUNT
WEIGHTS: Final = LIMITS + COLUMN_COUNT
PLAY_FIELDS: Final = WEIGHTS + COLUMN_COUNT
# Fields of a row of `positions`.
POSITION_TOP, POSITION_DRAWS, POSITION_MASS = range(3)
POSITION_FIELDS: Final = 3

_NO_ROOM: Final = -1

_u, _i = np.uint64, np.int64  # the same types in every call: each other mix is compiled separately
_0, _1, _2, _4, _8 = (_u(n) for n in (0, 1, 2, 4, 8))
_LOW_COLUMNS, _LOW_TABLES, _COLUMNS = _u(LOW_COLUMNS), _u(LOW_TABLES), _u(COLUMN_COUNT)
_NO_RANK, _ALL_RANKS = _u(NO_RANK), _u(ALL_RANKS)
_FULL_TABLE: Final = _u(COLUMN_HEIGHT * int(STEPS.sum()))


class Workspace(NamedTuple):
    """Arrays that one thread keeps from deal to deal, besides those of the search.

    Attributes:
        runs: as in `next_stamp`.
        stamp: as in `next_stamp`.
        stack: as in `run_length`.
        heads: int32[1296 * 256], by packed table, its first entry or 0; all 0 between deals.
        tables: int32[2, k], the tables with mass of this level and the next.
        entries: int64[2 k, 4], by table and rank of the waste top: that `RANK`, the `NEXT` entry of the table
            or 0, the `EXPOSED` cards, and the `FIRST` of its masses. The lower half is for even levels, the
            upper for odd ones; row 0 is not used.
        masses: int64[8 k, 2], by entry and number of draws: the `MASS`, and the `LINK`, which is 32 times the
            next row of the entry, or 0, plus the number of draws. Halves as in `entries`.
        plays: int64[13, 25], the legal plays of one table by rank of the waste top: their `COUNT` or -1 if
            they are not listed yet, the largest `LIMIT`, the `TOTAL` weight or 0 if they are not weighed yet,
            the `FAVOURITE`, then cards, limits and weights.
        positions: int64[7 * 17, 3], the positions of one table after a play: waste top, draws and mass.
    """

    runs: npt.NDArray[np.int64]
    stamp: npt.NDArray[np.int64]
    stack: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int32]
    tables: npt.NDArray[np.int32]
    entries: npt.NDArray[np.int64]
    masses: npt.NDArray[np.int64]
    plays: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]


@kernel
def clear_each(
    ranks: Any,
    habits: Any,
    allowed: Any,
    rules: RuleTables,
    supports: Any,
    buffers: Buffers,
    work: Workspace,
    masses: Any,
    first: Any,
) -> Any:
    """Compute the mass of the cleared holes of each deal; one call does many, as in the search.

    Args:
        ranks: uint8[n, 52], the ranks of each deal.
        habits: int64[1 + k], the player draws once in this many times although a card fits; then the weights
            of plays, by how much shorter their longest run is than the longest of all.
        allowed: as in `card_tables`.
        rules: tables of the rules.
        supports: uint8[18 * 16 * 16], by 16 * value + rank: the value at every rank on which a card of that
            rank may be played; for rank 15, at every rank and in byte 15.
        buffers: arrays to work in; `cells` is all zero before and after.
        work: arrays to work in.
        masses: int64[n], filled with the masses, from `first` on.
        first: index of the first deal.

    Returns:
        Index of the deal for which the workspace was too small; it is of no more use then. n if it was large
        enough for all.
    """
    for n in range(first, len(ranks)):
        fill_columns(ranks[n], rules, buffers)
        fill_stock(ranks[n], _i(STOCK_SIZE), _i(0), rules, buffers)
        last = sweep(_FULL_TABLE, _u(ranks[n, TABLEAU_SIZE]), _0, _0, rules, buffers)
        masses[n] = 0
        if last == TABLEAU_SIZE:
            _limit_draws(ranks[n], rules.marks, supports, buffers)
            masses[n] = _pass_mass(ranks[n], habits, allowed, buffers.cells, work)
        wipe(last, buffers)
        if masses[n] == _NO_ROOM:
            return n
    return len(ranks)


@kernel
def _limit_draws(ranks: Any, marks: Any, supports: Any, buffers: Buffers) -> None:
    """Replace the cells of the tables that the sweep has listed by the limits."""
    cells, tables, playable, reach = buffers.cells, buffers.tables, buffers.playable, buffers.reach
    latest = _latest_draws(ranks, marks)
    cells[:CELL_BYTES] = DRAW_COUNTS  # the empty table
    for n in range(_i(buffers.levels[TABLEAU_SIZE]) - 1, -1, -1):
        table = _u(tables[n])
        left_ranks, right_ranks = (table & (_LOW_TABLES - _1)) << _2, ((table >> _8) + _LOW_TABLES) << _2
        last_draw = _0
        largest(reach, _0, supports, _0, supports, _0)
        for column in range(_COLUMNS):  # without branches: a play past its limit adds a row of zeros
            place = left_ranks + column if column < _LOW_COLUMNS else right_ranks + column - _LOW_COLUMNS
            rank = _u(playable[place])
            after = table - (STEPS[column] if rank != _NO_RANK else _0)
            row = (_u(cells[(after << _4) + rank]) << _4) | rank
            last_draw = max(last_draw, _u(latest[row]))
            largest(reach, _0, reach, _0, supports, row << _4)
        largest(cells, table << _4, reach, _0, supports, ((last_draw << _4) | _ALL_RANKS) << _4)


@inlined
def _latest_draws(ranks: Any, marks: Any) -> Any:
    """Return uint8[18 * 16], by 16 * limit + rank: the last draw below the limit whose card takes it."""
    latest = np.zeros((DRAW_COUNTS + 1) * CELL_BYTES, np.uint8)
    for draws in range(DRAW_COUNTS):
        top = _i(ranks[TABLEAU_SIZE + draws])
        for rank in range(RANK_COUNT):
            row = draws * CELL_BYTES + rank
            takes = draws > 0 and marks[(CELL_BYTES + top) * CELL_BYTES + rank] > 0
            latest[row + CELL_BYTES] = draws if takes else latest[row]
    return latest


@inlined
def _pass_mass(ranks: Any, habits: Any, allowed: Any, cells: Any, work: Workspace) -> Any:
    """Pass the mass from the deal to the empty table; return what arrives there, or `_NO_ROOM`."""
    heads, tables, positions = work.heads, work.tables, work.positions
    entries, arrived = work.entries, work.masses
    runs, stack, plays = work.runs, work.stack, work.plays
    fits, cards = card_tables(ranks, allowed)
    pile = ranks[TABLEAU_SIZE:].astype(np.int64)
    waiting = np.zeros(DRAW_COUNTS + 1, np.int64)  # mass that has drawn, by the number of draws then
    stamp = next_stamp(runs, work.stamp)
    half = len(entries) // 2
    # Of the next level: the number of its tables, and the ends of its entries and of its masses.
    ends = np.array([0, 1, 1])
    _add_mass(
        TOTAL_MASS, _i(_FULL_TABLE), pile[0], _i(0), ALL_EXPOSED, heads, tables[0], entries, arrived, ends
    )
    for level in range(TABLEAU_SIZE):
        now, then, count = level & 1, 1 - (level & 1), ends[0]
        ends[0], ends[1], ends[2] = 0, 1 + then * half, 1 + then * half * MASSES_PER_ENTRY
        for n in range(count):
            room = (1 + then) * half
            if (
                ends[1] + COLUMN_COUNT > room
                or ends[2] + COLUMN_COUNT * DRAW_COUNTS > room * MASSES_PER_ENTRY
            ):
                return _i(_NO_ROOM)
            table = _i(tables[now, n])
            exposed = entries[heads[table], EXPOSED]
            last_draw = _i(cells[table * CELL_BYTES + ALL_RANKS])
            plays[:, COUNT] = -1
            waiting[:] = 0
            listed = _take_positions(table, pile, heads, entries, arrived, positions, waiting)
            for place in range(listed + last_draw + 1):
                # Those after a play come first, because they add to those after a draw.
                draws = positions[place, POSITION_DRAWS] if place < listed else place - listed
                top = positions[place, POSITION_TOP] if place < listed else pile[draws]
                mass = positions[place, POSITION_MASS] if place < listed else waiting[draws]
                if mass == 0:
                    continue
                if plays[top, COUNT] < 0:
                    _list_plays(table, top, exposed & fits[top], cards, cells, plays)
                drawn = _drawn(mass, draws, plays[top, COUNT], habits)
                waiting[draws + 1] += drawn
                if plays[top, LIMIT] <= draws:
                    continue
                if plays[top, TOTAL] == 0:
                    _weigh_plays(table, top, exposed, habits, fits, cards, runs, stack, stamp, plays)
                share = (mass - drawn) // plays[top, TOTAL]
                odd = mass - drawn - share * plays[top, TOTAL]
                for play in range(plays[top, COUNT]):
                    if plays[top, LIMITS + play] > draws:
                        card = plays[top, CARDS + play]
                        key = card % PLACE_MODULUS
                        amount = share * plays[top, WEIGHTS + play] + (
                            odd if play == plays[top, FAVOURITE] else 0
                        )
                        after, left = table - cards[key, STEP], without(card, exposed)
                        _add_mass(
                            amount,
                            after,
                            cards[key, CARD_RANK],
                            draws,
                            left,
                            heads,
                            tables[then],
                            entries,
                            arrived,
                            ends,
                        )
    return _take_cleared(heads, entries, arrived)


@inlined
def _take_positions(
    table: Any, pile: Any, heads: Any, entries: Any, arrived: Any, positions: Any, waiting: Any
) -> Any:
    """Take a table's entries and list their positions; return how many.

    A position that can be reached by a draw as well is added to `waiting` instead, because the mass of both
    has to arrive before it is divided.
    """
    count, entry = 0, _i(heads[table])
    heads[table] = 0
    while entry > 0:
        top, row = entries[entry, RANK], entries[entry, FIRST]
        while row > 0:
            draws = arrived[row, LINK] & _LINK_DRAWS
            if top == pile[draws]:
                waiting[draws] += arrived[row, MASS]
            else:
                positions[count, POSITION_TOP], positions[count, POSITION_DRAWS] = top, draws
                positions[count, POSITION_MASS] = arrived[row, MASS]
                count += 1
            row = arrived[row, LINK] >> _LINK_SHIFT
        entry = entries[entry, NEXT]
    return count


@inlined
def _list_plays(table: Any, top: Any, legal: Any, cards: Any, cells: Any, plays: Any) -> None:
    """List the legal plays in the row of the waste top."""
    count, most = 0, _i(0)
    while legal:
        card = legal & -legal
        legal ^= card
        key = card % PLACE_MODULUS
        limit = _i(cells[(table - cards[key, STEP]) * CELL_BYTES + cards[key, CARD_RANK]])
        plays[top, CARDS + count], plays[top, LIMITS + count] = card, limit
        most = max(most, limit)
        count += 1
    plays[top, COUNT], plays[top, LIMIT], plays[top, TOTAL] = count, most, 0


@inlined
def _weigh_plays(
    table: Any,
    top: Any,
    exposed: Any,
    habits: Any,
    fits: Any,
    cards: Any,
    runs: Any,
    stack: Any,
    stamp: Any,
    plays: Any,
) -> None:
    """Weigh the plays in the row of the waste top by the longest runs that begin with them."""
    count, longest, total = plays[top, COUNT], _i(0), _i(0)
    if count == 1:  # most of them: nothing to compare
        plays[top, WEIGHTS], plays[top, TOTAL], plays[top, FAVOURITE] = 1, 1, 0
        return
    for play in range(count - 1, -1, -1):
        length = run_length(plays[top, CARDS + play], table, exposed, fits, cards, runs, stack, stamp)
        plays[top, WEIGHTS + play] = length
        if length >= longest:
            longest, plays[top, FAVOURITE] = length, play
    for play in range(count):
        shorter = longest - plays[top, WEIGHTS + play]
        plays[top, WEIGHTS + play] = habits[min(shorter + 1, len(habits) - 1)]
        total += plays[top, WEIGHTS + play]
    plays[top, TOTAL] = total


@inlined
def _drawn(mass: Any, draws: Any, legal: Any, habits: Any) -> Any:
    """Return how much of a position's mass draws."""
    if legal == 0:
        return mass
    return mass // habits[0] if draws < STOCK_SIZE else _i(0)


@inlined
def _add_mass(
    mass: Any,
    table: Any,
    top: Any,
    draws: Any,
    exposed: Any,
    heads: Any,
    tables: Any,
    entries: Any,
    arrived: Any,
    ends: Any,
) -> None:
    """Add mass to a position, which is made if it is new, like its entry and its table."""
    head = _i(heads[table])
    entry = head
    while entry > 0 and entries[entry, RANK] != top:
        entry = entries[entry, NEXT]
    if head == 0:
        tables[ends[0]] = table
        ends[0] += 1
    if entry == 0:
        entry = ends[1]
        ends[1] += 1
        heads[table] = entry
        entries[entry, RANK], entries[entry, NEXT], entries[entry, EXPOSED] = top, head, exposed
        entries[entry, FIRST] = 0
    first = entries[entry, FIRST]
    row = first
    while row > 0 and arrived[row, LINK] & _LINK_DRAWS != draws:
        row = arrived[row, LINK] >> _LINK_SHIFT
    if row == 0:
        row = ends[2]
        ends[2] += 1
        entries[entry, FIRST] = row
        arrived[row, MASS], arrived[row, LINK] = 0, first << _LINK_SHIFT | draws
    arrived[row, MASS] += mass


@inlined
def _take_cleared(heads: Any, entries: Any, arrived: Any) -> Any:
    """Take the entries of the empty table and return their mass."""
    cleared, entry = _i(0), _i(heads[0])
    heads[0] = 0
    while entry > 0:
        row = entries[entry, FIRST]
        while row > 0:
            cleared += arrived[row, MASS]
            row = arrived[row, LINK] >> _LINK_SHIFT
        entry = entries[entry, NEXT]
    return cleared
