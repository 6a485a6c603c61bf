"""Clusters that become a team's, or everybody's: who may send jobs there, and templates that run nowhere else. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from slipway.google.catalog.lookup import groups_of
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import TEAM
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import Way, account_of, ends_of, ways_without, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.trainers import submitters_of
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.templates.usage import TemplateChange
from slipway.reviewing.rules.words import named


def teams(change: Change) -> Iterator[Consequence]:
    """Compare the users of each cluster, as far as they may submit before and after, and what each team has."""
    for name, team in change.old.teams.items():
        if team.clusters and name in change.new.teams and not change.new.teams[name].clusters:
            own = named(f"`{cluster}`" for cluster in team.clusters)
            yield by_row("cluster-team-gone", Subject("team", name), team=name, own=own)
    sides, stay = (change.before, change.after), set(change.before.people) & set(change.after.people)
    for cluster in change.new.clusters.keys() & change.old.clusters.keys():
        if len({(facts.catalog.owners(cluster), frozenset(_members(facts, cluster))) for facts in sides}) == 1:
            continue  # What a template's own label changes is told of the template.
        was, now = (_users(facts, cluster) & stay for facts in sides)
        owners = named(f"`{owner}`" for owner in change.new.owners(cluster))
        if gained := [f"`{member}`" for member in sorted(now - was)]:
            of = f"of team {owners}" if owners else "everybody's"
            # A team shares with everybody what was its own.
            grade, subject = None if owners else Grade.WARNING, Subject("cluster", cluster)
            yield by_row("cluster-team-opened", subject, who=named(gained), of=of, details=gained, grade=grade)
        if lost := sorted(was - now):
            yield from _closed(change, cluster, lost, owners)


def _closed(change: Change, cluster: str, lost: Sequence[str], team: str) -> Iterator[Consequence]:
    """Yield that members can't send jobs to a cluster, and the templates for which it was the only one."""
    ways, owner = _kept_off(change.after, cluster), change.new.owners(cluster)[0]
    said = f"`--team {owner}`" if any(may_say for *_, may_say in ways) else ""
    ends = "; ".join(ends_of((way[:3] for way in ways if way[2]), change.new))
    words: dict[str, Any] = {"owner": owner, "team": team, "cluster": cluster, "by": said and f", with {said}"}
    shut, all_ = {way[0].name for way in ways}, {way[0].name for way in ways_without(change.new, cluster)}
    words["shut"] = named(f"`{name}`" for name in sorted(shut)) if shut < all_ else ""
    words["say"] = said and f", and let all its members submit with {said}, or `SLIPWAY_TEAM={owner}`"
    own = (f"`{member}` still may" for member in sorted(_members(change.after, cluster)))
    elsewhere, details = ends and f"without it, {ends}; ", [*(f"`{member}`" for member in lost), *own]
    who, subject = named(details[: len(lost)]), Subject("cluster", cluster)
    yield by_row("cluster-team-closed", subject, who=who, elsewhere=elsewhere, details=details, **words)
    for template, offer, *_ in (way for way in ways if not way[2]):
        case, may = whose([offer], template), submitters_of(change.after, account_of(offer))
        if theirs := named(f"`{member}`" for member in lost if member in may):
            told, words["part"] = TemplateChange(change, template, template), f"cluster {cluster}{case}"
            case = case and f"{case.lstrip()} "
            yield told.tells("cluster-team-shut", case=case, lost=theirs, used=told.used, **words)


def _users(facts: Facts, cluster: str) -> set[str]:
    return _members(facts, cluster) if _kept_off(facts, cluster) else set(facts.people)


def _members(facts: Facts, cluster: str) -> set[str]:
    return {member for owner in facts.catalog.owners(cluster) for member in facts.catalog.teams[owner].submitters}


def _kept_off(facts: Facts, cluster: str) -> list[tuple[*Way, bool]]:
    """Return the ways of `ways_without` that a team's cluster does not take by themselves, each with whether it does
    where somebody says `--team`."""
    catalog, owners, ways = facts.catalog, facts.catalog.owners(cluster), []
    for way in ways_without(catalog, cluster) if owners else ():
        own = way[1].labels.get(TEAM) or way[1].team
        groups = (own,) if own else groups_of(catalog, submitters_of(facts, account_of(way[1])))
        if len(groups) != 1 or groups[0] not in owners:
            ways.append((*way, owners[0] in groups))
    return ways
