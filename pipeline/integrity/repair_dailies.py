"""Repair of what is published: dailies by the hash in the index, their solutions, and the index itself.

A daily comes back only as the bytes that the index hashed when it was published. Where neither its date and
the key in force nor the cards that it still holds give those bytes, nobody can know what they were.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from pipeline.daily.hole import choose, daily_bytes, key_id
from pipeline.daily.key import DailyKey
from pipeline.daily.ledger import (
    DAILY_FOLDER,
    INDEX_PATH,
    check_daily,
    daily_path,
    parse_index,
    published_days,
    read_ledger,
)
from pipeline.deals.certify import warm_up
from pipeline.errors import DamagedError, MissingError, NewerError
from pipeline.integrity.dry_run import Mending, put
from pipeline.integrity.repair_solutions import hole_of_cards, mend_solutions
from pipeline.store.documents import INDEX_SCHEMA, Document, parse
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.versions import DAILY_VERSIONS
from pipeline.work.ordered import in_order
from pipeline.work.progress import Progress

TASK: Final = "dailies"
_SCHEMA_NAME: Final = INDEX_SCHEMA.partition("/")[0]


@dataclass(frozen=True, slots=True)
class _Lost:
    """A daily that is gone, or is not the one that was published.

    Attributes:
        day: its date.
        sha256: hash of the one that was published.
        data: what lies there; None for nothing.
        keys: those that it may have been chosen with.
    """

    day: date
    sha256: str
    data: bytes | None
    keys: tuple[DailyKey | None, ...]


def mend_dailies(
    storage: Storage,
    key: DailyKey | None,
    now: datetime,
    mending: Mending,
    executor: Executor,
    progress: Progress,
) -> None:
    """Mend everything that is published.

    Args:
        storage: the data root.
        key: the secret key in force, or None.
        now: the moment, aware: where a solution belongs depends on it.
        mending: takes what is done and what cannot be.
        executor: works holes out.
        progress: told of the dailies that are worked out.
    """
    try:
        listed, fault = _read_index(storage)
    except NewerError as newer:
        mending.refuse(INDEX_PATH, str(newer))
        return
    if fault is None:
        _bring_back(storage, listed, key, mending, executor, progress)
        unsound = [day for day in published_days(storage) if not _is_sound(storage, day, listed, mending)]
    else:
        unsound = []
        _check_all(storage, key, mending, executor, progress)
    mend_solutions(storage, listed, now, mending, executor)
    if listed.keys().isdisjoint(unsound):  # else the index may be all that tells how a daily was published
        _mend_index(storage, fault, mending)


def _read_index(storage: Storage) -> tuple[dict[date, Document], str | None]:
    """What the index lists, and what is wrong with it, if anything is."""
    try:
        data = storage.read(INDEX_PATH)
    except MissingError:
        return {}, "missing" if published_days(storage) else None
    try:
        return parse_index(data), None
    except DamagedError as damage:
        if _is_of_another_version(data):
            raise NewerError(f"{damage}; it is left to the Fairway that wrote it") from damage
        return {}, str(damage)


def _is_of_another_version(data: bytes) -> bool:
    found = _document(data).get("schema")
    return isinstance(found, str) and found.startswith(f"{_SCHEMA_NAME}/") and found != INDEX_SCHEMA


def _bring_back(
    storage: Storage,
    listed: Mapping[date, Document],
    key: DailyKey | None,
    mending: Mending,
    executor: Executor,
    progress: Progress,
) -> None:
    """Bring back the dailies that are not as the index hashed them."""
    keys = (None,) if key is None else (key, None)
    there = set(published_days(storage))
    lost: list[_Lost] = []
    for day, entry in listed.items():
        data = storage.read(daily_path(day)) if day in there else None
        if data is None or sha256_of(data) != entry["sha256"]:
            lost.append(_Lost(day, entry["sha256"], data, keys))
    if lost:
        warm_up()
    for done, (one, data) in enumerate(zip(lost, in_order(executor, _published, lost), strict=True), 1):
        path, fault = daily_path(one.day), "missing" if one.data is None else "changed after it was published"
        if data is None:
            mending.refuse(path, f"{fault}; {_why_not(one)}; restore a copy")
        else:
            put(storage, path, data)
            mending.mend(path, f"{fault}; made anew, to the hash in {INDEX_PATH}")
        progress.update(TASK, done, len(lost))


def _published(lost: _Lost) -> bytes | None:
    """The bytes that a daily was published as; None where nothing at hand gives them."""
    own = None if lost.data is None else hole_of_cards(_document(lost.data), lost.day)
    if own is not None and sha256_of(daily_bytes(own)) == lost.sha256:
        return daily_bytes(own)
    for key in lost.keys:
        data = daily_bytes(choose(lost.day, key))
        if sha256_of(data) == lost.sha256:
            return data
    return None


def _why_not(lost: _Lost) -> str:
    own = None if lost.data is None else hole_of_cards(_document(lost.data), lost.day)
    if own is not None and daily_bytes(own) == lost.data:
        return (
            f"it is sound by itself, so it took the place of another, or {INDEX_PATH} was changed: if it is "
            f"the right one, remove {INDEX_PATH} and repair again; else"
        )
    if len(lost.keys) > 1:
        return "its date gives the one that was published neither with the key in force nor without one"
    return "without a key its date does not give the one that was published, and none is set"


def _check_all(
    storage: Storage, key: DailyKey | None, mending: Mending, executor: Executor, progress: Progress
) -> None:
    """Without the hashes of an index, hold every daily against what it follows from; none is changed."""
    days = [day for day in published_days(storage) if _is_sound(storage, day, {}, mending)]
    if days:
        warm_up()
    work = [(day, storage.read(daily_path(day)), key) for day in days]
    for done, (day, doubt) in enumerate(zip(days, in_order(executor, _doubt, work), strict=True), 1):
        if doubt is not None:
            mending.refuse(daily_path(day), f"{doubt}, and no index says what was published: compare a copy")
        progress.update(TASK, done, len(days))


def _doubt(work: tuple[date, bytes, DailyKey | None]) -> str | None:
    """Why a daily that is sound by itself may not be what was published; None for no reason."""
    day, data, key = work
    document = _document(data)
    if document["versions"] != DAILY_VERSIONS:
        return None  # nobody can work it out anew
    own = hole_of_cards(document, day)
    if own is None or daily_bytes(own) != data:
        return "its cards give something else"
    known: dict[str | None, DailyKey | None] = {None: None}
    if key is not None:
        known[key_id(key)] = key
    if own.key_id in known:
        chosen = choose(day, known[own.key_id])
        # Other cards may be those of another policy; the same ones at another attempt were edited.
        if chosen.certified.deal == own.certified.deal and chosen != own:
            return f"its date gives these cards at attempt {chosen.attempt}, not {own.attempt}"
    return None


def _is_sound(storage: Storage, day: date, listed: Mapping[date, Document], mending: Mending) -> bool:
    """Whether a daily is sound by itself; one that is not is refused, unless that was done already."""
    path = daily_path(day)
    data = storage.read(path)
    try:
        check_daily(parse(data, path), day)
    except DamagedError as damage:
        if day not in listed:
            remedy = "no index says what was published: restore a copy, or move it away"
            mending.refuse(path, f"{damage}; {remedy}")
        elif listed[day]["sha256"] == sha256_of(data):
            remedy = f"but its hash is the one in {INDEX_PATH}, so both were changed: restore copies of both"
            mending.refuse(path, f"{damage}; {remedy}")
        return False
    return True


def _mend_index(storage: Storage, fault: str | None, mending: Mending) -> None:
    data = read_ledger(storage).index_bytes()
    if INDEX_PATH in storage.list(INDEX_PATH):
        if storage.read(INDEX_PATH) == data:
            return
    elif fault is None:
        return  # nothing was ever published
    put(storage, INDEX_PATH, data)
    mending.mend(INDEX_PATH, f"{fault or 'not what lies there'}; rebuilt from the files in {DAILY_FOLDER}")


def _document(data: bytes) -> Document:
    """What bytes say as a document; nothing where they are none."""
    try:
        return parse(data, DAILY_FOLDER)
    except DamagedError:
        return {}
