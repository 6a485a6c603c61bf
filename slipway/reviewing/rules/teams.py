"""Clusters that become a team's, or everybody's: who may send jobs there, and templates that run nowhere else. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from slipway.google.catalog.lookup import groups_of
from slipway.model.catalog.model import Offer
from slipway.model.facts import Facts
from slipway.model.findings.finding import Subject
from slipway.model.labels import TEAM
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import account_of, ends_of, ways_without, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.trainers import submitters_of
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.templates.usage import TemplateChange
from slipway.reviewing.rules.words import named


def teams(change: Change) -> Iterator[Consequence]:
    """Compare the users of each cluster, as far as they may submit before and after."""
    stay = set(change.before.people) & set(change.after.people)
    for cluster in change.new.clusters.keys() & change.old.clusters.keys():
        was, now = (_users(facts, cluster) & stay for facts in (change.before, change.after))
        if lost := sorted(was - now):
            yield from _closed(change, cluster, lost)
        if gained := [f"`{member}`" for member in sorted(now - was)]:
            owners = named(f"`{owner}`" for owner in change.new.owners(cluster))
            of = f"of team {owners}" if owners else "everybody's"
            yield by_row("cluster-team-opened", Subject("cluster", cluster), who=named(gained), of=of, details=gained)


def _closed(change: Change, cluster: str, lost: Sequence[str]) -> Iterator[Consequence]:
    """Yield that members can't send jobs to a cluster, and the templates for which it was the only one."""
    new, listed, owners = change.new, [f"`{member}`" for member in lost], change.new.owners(cluster)
    ways = [way for way in ways_without(new, cluster) if _kept_off(change.after, way[1])]
    said = any(owners[0] in _groups(change.after, offer) for _, offer, _ in ways)
    ends = "; ".join(ends_of((way for way in ways if way[2]), new))
    values: dict[str, Any] = {
        "cluster": cluster,
        "field": f"slipway:teams.{owners[0]}.clusters",
        "owner": owners[0],
        "team": named(f"`{owner}`" for owner in owners),
        "by": f" (`--team {owners[0]}`)" * said,
        "say": f", and let all its members submit with `--team {owners[0]}`, or `SLIPWAY_TEAM={owners[0]}`" * said,
    }
    own = sorted({member for owner in owners for member in new.teams[owner].submitters})
    yield by_row(
        "cluster-team-closed",
        Subject("cluster", cluster),
        who=named(listed),
        elsewhere=ends and f"without it, {ends}; ",
        details=(*listed, *(f"`{member}` may" for member in own)),
        **values,
    )
    for template, offer, _ in (way for way in ways if not way[2]):
        case, may = whose([offer], template), submitters_of(change.after, account_of(offer))
        if theirs := [f"`{member}`" for member in lost if member in may]:
            told, part = TemplateChange(change, template, template), f"cluster {cluster}{case}"
            case = case and f"{case.lstrip()} "
            yield told.tells("cluster-team-shut", case=case, lost=named(theirs), part=part, used=told.used, **values)


def _users(facts: Facts, cluster: str) -> set[str]:
    owners = facts.catalog.owners(cluster)
    members = {member for owner in owners for member in facts.catalog.teams[owner].submitters}
    closed = any(_kept_off(facts, offer) for _, offer, _ in ways_without(facts.catalog, cluster))
    return members if closed else set(facts.people)


def _kept_off(facts: Facts, offer: Offer) -> bool:
    """Tell whether an offer's cluster takes none of its jobs for which nobody says `--team`."""
    owners, groups = facts.catalog.owners(offer.cluster), _groups(facts, offer)
    return bool(owners) and not (len(groups) == 1 and groups[0] in owners)


def _groups(facts: Facts, offer: Offer) -> tuple[str, ...]:
    """Return the teams that an offer's jobs may count for: the only one is theirs by itself."""
    own = offer.labels.get(TEAM) or offer.team
    return (own,) if own else groups_of(facts.catalog, submitters_of(facts, account_of(offer)))
