"""Which way a job takes: the first that is available, or the one that was asked for."""

from __future__ import annotations

import difflib

from slipway.catalog.model import Catalog, Template, Way
from slipway.errors import ConfigError, PolicyError

SUPPORTED = ("pool", "spot")
PLANNED = ("flex-start", "on-demand", "reservation")


def find_template(catalog: Catalog, name: str) -> Template:
    """Raises ConfigError with a suggestion."""
    if name in catalog.templates:
        return catalog.templates[name]
    near = difflib.get_close_matches(name, catalog.templates, n=1, cutoff=0.5)
    commit = f" @ {catalog.commit}" if catalog.commit else ""
    raise ConfigError(
        f"template {name!r} not found in catalog {catalog.stack}{commit}",
        why=f"the catalog has {', '.join(sorted(catalog.templates)) or 'no templates'}",
        fix=f"slipway submit {near[0]} …" if near else "slipway templates",
    )


def choose(template: Template, wanted: str | None) -> Way:
    """Raises ConfigError for a way that is not there, PolicyError for one that is not available."""
    if wanted is None:
        first = next((way for way in template.ways if way.available and way.way in SUPPORTED), None)
        if first:
            return first
        raise PolicyError(
            f"{template.name} can't run by any of its ways",
            why="\n".join(f"{way.way:<12} {reason(way)}" for way in template.ways) or "the template lists no way",
            fix="slipway quota    (what is short), then deploy again: pulumi up",
        )
    if wanted in PLANNED:
        raise ConfigError(
            f"--way {wanted} is not supported by this version",
            why=f"jobs run by {' or '.join(SUPPORTED)}",
            fix=f"slipway submit {template.name} --way {SUPPORTED[0]}",
        )
    way = next((one for one in template.ways if one.way == wanted), None)
    if way is None:
        names = [one.way for one in template.ways]
        raise ConfigError(
            f"{template.name} has no way {wanted!r}",
            why=f"it runs by {' or '.join(names) or 'none'}",
            fix=f"slipway submit {template.name}{f' --way {names[0]}' if names else ''}",
        )
    if not way.available:
        others = [one.way for one in template.ways if one.available and one.way in SUPPORTED]
        raise PolicyError(
            f"{template.name} can't run by way {wanted} now",
            why=reason(way),
            fix=f"slipway submit {template.name} --way {others[0]}" if others else "slipway quota    (what is short)",
        )
    return way


def reason(way: Way) -> str:
    """Why a way is not taken, in words."""
    if way.way not in SUPPORTED:
        return "not supported by this version"
    return way.why or ("available" if way.available else "not available; the catalog does not say why")
