"""`fairway level`: the policies of the levels, in the settings and in the pools."""

from typing import Annotated, Any

import typer

from jobs.api.pools import policy_document
from jobs.settings.model import Settings
from jobs.terminal.context import read_settings, storage_at
from jobs.terminal.options import Config, Data, Json
from jobs.terminal.output import put_json, say
from jobs.terminal.tables import put_table
from pipeline.deals.levels import Level, Policy
from pipeline.pools.catalog import Catalog, Pool, load_catalog
from solver.errors import UsageError

AnyLevel = Annotated[str, typer.Argument(metavar="NAME", help="Name of a level.", show_default=False)]


def list_levels(data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """List the levels and their policies.

    A level that is not active keeps its pool, but nights add no deals to it. A pool keeps the policy it was
    made with until `fairway pool regenerate`.

    Example: fairway level list
    """
    settings = read_settings(config, data=data)
    catalog = load_catalog(storage_at(settings))
    names = dict.fromkeys((*settings.level_names, *(pool.level for pool in catalog.pools)))
    documents = [_document(name, settings, catalog) for name in names]
    if as_json:
        put_json({"levels": documents})
        return
    put_table(
        [("level", False), ("nights", False), ("deals", True), ("admits", False), ("pool", False)],
        [_row(name, settings, catalog) for name in names],
    )


def show(name: AnyLevel, data: Data = None, config: Config = None, as_json: Json = False) -> None:
    """Show the policy of a level.

    Shows the policy in the settings, and that of the pool's generation in force.

    Example: fairway level show easy
    """
    settings = read_settings(config, data=data)
    catalog = load_catalog(storage_at(settings))
    if name not in settings.level_names:
        catalog.pool(name)  # refuses a level that is nowhere
    if as_json:
        put_json(_document(name, settings, catalog))
        return
    level, pool = _level(name, settings), _pool(name, catalog)
    headings = [("level " + name, False), ("settings", False)]
    policies: list[Policy | None] = [None if level is None else level.policy]
    if pool is not None:
        headings.append((f"generation {pool.generation}", False))
        policies.append(pool.policy)
    put_table(headings, [(field, *(_cell(policy, field) for policy in policies)) for field in _FIELDS])
    if level is not None:
        per_night, cap = settings.deals_of(name), settings.cap_of(name)
        active = "" if name in settings.active_levels else "; not active, so nights add none"
        say(f"\n{per_night:,} deals per night up to {cap:,}{active}")
    if pool is not None:
        say(f"the pool has {pool.size:,} deals{f'; note: {pool.note}' if pool.note else ''}")
    if level is not None and pool is not None and level.policy.differs_from(pool.policy):
        say(f"they differ; `fairway pool regenerate {name}` makes a generation by the policy of the settings")


_FIELDS = ("rules", "mean_from", "mean_below", "difficulty_from", "difficulty_to", "course", "sha256")


def _cell(policy: Policy | None, field: str) -> str:
    if policy is None:
        return "not in the settings"
    value = getattr(policy, field)
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)[:16]


def _level(name: str, settings: Settings) -> Level | None:
    try:
        return settings.level(name)
    except UsageError:
        return None


def _pool(name: str, catalog: Catalog) -> Pool | None:
    """Return the pool of a level; None if there is none or it is empty."""
    return next((pool for pool in catalog.pools if pool.level == name and pool.parts), None)


def _row(name: str, settings: Settings, catalog: Catalog) -> tuple[str, ...]:
    level, pool = _level(name, settings), _pool(name, catalog)
    policy = level.policy if level is not None else None if pool is None else pool.policy
    return (
        name,
        "yes" if name in settings.active_levels else "no",
        f"{pool.size:,}" if pool is not None else "0",
        policy.admits_text if policy is not None else "",
        _state(level, pool),
    )


def _state(level: Level | None, pool: Pool | None) -> str:
    if pool is None:
        return "empty"
    if level is None:
        return f"generation {pool.generation}, not in the settings"
    differs = level.policy.differs_from(pool.policy)
    other = f", by another policy ({differs}): {pool.policy.admits_text}" if differs else ""
    return f"generation {pool.generation}{other}"


def _document(name: str, settings: Settings, catalog: Catalog) -> dict[str, Any]:
    level, pool = _level(name, settings), _pool(name, catalog)
    return {
        "level": name,
        "active": name in settings.active_levels,
        "policy": None if level is None else policy_document(level.policy),
        "deals_per_night": None if level is None else settings.deals_of(name),
        "deals_cap": None if level is None else settings.cap_of(name),
        "pool": None
        if pool is None
        else {
            "generation": pool.generation,
            "deals": pool.size,
            "policy": policy_document(pool.policy),
            "note": pool.note,
        },
        "differs": level is not None and pool is not None and bool(level.policy.differs_from(pool.policy)),
    }
