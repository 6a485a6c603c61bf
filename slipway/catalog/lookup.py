"""What a submission may choose from: the template, its kinds, and the offers that apply to its parameters."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.capacity import CAPACITY_TYPES
from slipway.catalog.checks import UPDATE
from slipway.catalog.model import Catalog, Offer, Scalar, Template
from slipway.errors import ConfigError
from slipway.formatting import nearest, quoted
from slipway.kinds import KINDS, JobKind


def find_template(catalog: Catalog, name: str) -> Template:
    """Raises ConfigError with a suggestion."""
    if name in catalog.templates:
        return catalog.templates[name]
    near = nearest(name, catalog.templates)
    commit = f" @ {catalog.revision.short}" if catalog.commit else ""
    raise ConfigError(
        f"template {quoted(name)} not found in catalog {catalog.stack}{commit}",
        why=f"the catalog has {', '.join(sorted(catalog.templates)) or 'no templates'}",
        fix=({"template": near},) if near else "slipway templates",
    )


def find_kind(template: Template, wanted: str | None) -> JobKind:
    """The kind to submit as: the template's usual one, or another of its own. Raises ConfigError."""
    kinds = template.kinds
    name = kinds[0] if wanted is None else wanted
    if name in kinds and name in KINDS:
        return KINDS[name]
    if name not in kinds:
        raise ConfigError(
            f"{template.name} can't be submitted as a {name if name in KINDS else quoted(name)}",
            why=f"its kinds are {', '.join(kinds)}",
            fix=({"kind": next((one for one in kinds if one in KINDS), kinds[0])},),
        )
    raise ConfigError(f"{template.name} is a {name}, which this version does not know", fix=UPDATE)


def trainer_of(catalog: Catalog, template: Template) -> str:
    """The name of the trainer that a template chose; empty for the workspace's own, and for another account."""
    accounts = {
        KINDS[offer.kind].spec_of(offer.request).get("serviceAccount")
        for offer in template.offers
        if offer.kind in KINDS
    }
    return next((name for name, account in catalog.trainers.items() if account in accounts), "")


def standing(template: Template, kind: JobKind, values: Mapping[str, Scalar]) -> tuple[Offer, ...]:
    """The offers of the case that these values choose, in the template's order. Raises ConfigError for none."""
    found = tuple(
        offer
        for offer in template.offers
        if offer.kind == kind.name and all(values.get(name) in wanted for name, wanted in offer.when.items())
    )
    if not found:
        choosing = dict.fromkeys(name for offer in template.offers for name in offer.when)
        chosen = ", ".join(f"{name}={values[name]}" for name in choosing if name in values)
        unknown = (offer.kind for offer in template.offers if offer.kind not in KINDS)
        strange = next((f"this version does not know what a {name} is" for name in unknown), "")
        raise ConfigError(
            f"{template.name} can't run as a {kind.words}{f' with {chosen}' if chosen else ''}",
            why=strange or "no cluster of the stack fits it, and it lists no other capacity type",
            fix=UPDATE if strange else f"slipway templates show {template.name}",
        )
    return found


def usual_offers(template: Template, kind: str = "") -> tuple[Offer, ...]:
    """Those of the usual kind, or of another, that the defaults choose: without them nobody can submit it by its name
    alone. A parameter that must be given may have any value."""
    defaults = {one.name: one.default for one in template.parameters}
    return tuple(
        offer
        for offer in template.offers
        if offer.kind == (kind or template.kind)
        and all(defaults.get(name) in (None, *wanted) for name, wanted in offer.when.items())
    )


def capacity_types(template: Template, kind: str = "") -> dict[str, tuple[Offer, ...]]:
    """The offers of each: first those that the defaults choose, in their order; then what only other values have."""
    usual = usual_offers(template, kind)
    types = {one.capacity_type for one in usual}
    others = (one for one in template.offers if one.kind == (kind or template.kind) and one.capacity_type not in types)
    found: dict[str, tuple[Offer, ...]] = {}
    for one in (*usual, *others):
        found[one.capacity_type] = (*found.get(one.capacity_type, ()), one)
    return found


def named(template: Template, offers: tuple[Offer, ...], wanted: str, argument: str = "capacity") -> tuple[Offer, ...]:
    """Those of one capacity type: `pool` is there once for each cluster that fits. `argument` asked for it.

    Raises ConfigError with a suggestion.
    """
    found = tuple(offer for offer in offers if offer.capacity_type == wanted)
    if not found:
        names = list(dict.fromkeys(offer.capacity_type for offer in offers))
        known = [name for name in names if name in CAPACITY_TYPES]
        near = nearest(wanted, known)
        right = near or next(iter(known), "")
        raise ConfigError(
            f"{template.name} has no capacity type {quoted(wanted)}{f'; did you mean {near}?' if near else ''}",
            why=f"its capacity types are {', '.join(names)}",
            fix=({argument: {right: "30m"} if argument == "wait_for" else right},) if right else UPDATE,
        )
    return found


def reason(offer: Offer) -> str:
    """Why the catalog says that an offer is not available."""
    return offer.why or "not available; the catalog does not say why"


def remedy(catalog: Catalog, cluster: str, does: str) -> str:
    """What to type where a cluster, by its id, failed or is gone; `does` says what a deployment does about one of the
    stack's own. One that is adopted is its owner's to mend."""
    found = catalog.cluster_named(cluster)
    if found is None or not found.adopted:
        return f"pulumi up --stack {catalog.stack}{does}"
    return (
        f"ask whoever made {cluster}, which stack {catalog.stack} has adopted as {found.name}; or take that entry "
        "out of its stack file"
    )
