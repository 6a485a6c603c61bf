"""Clusters that become a team's, or everybody's: who may send jobs there, and templates that run nowhere else. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from slipway.google.catalog.lookup import groups_of, teams_of
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import Way, account_of, ways_without, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.trainers import holding, submitters_of, teams_counted, users_of
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.templates.usage import TemplateChange, is_case
from slipway.reviewing.rules.templates.waits import left
from slipway.reviewing.rules.words import called_teams, in_backticks, named


def teams(change: Change) -> Iterator[Consequence]:
    """Compare the users of each cluster, as far as they may submit before and after, and what each team has. Of jobs
    that a cluster takes from nobody any more their template tells."""
    known = {*teams_counted(change.new), *change.new.teams}
    for name, team in change.old.teams.items():
        if name not in known and {*team.submitters} & {*change.after.people}:
            yield by_row("team-gone", Subject("team", name), team=name)
    sides, stay = (change.before, change.after), set(change.before.people) & set(change.after.people)
    for member in sorted(stay):
        former, present = ({*groups_of(facts.catalog, [member])} & facts.catalog.teams.keys() for facts in sides)
        for name in sorted((former ^ present) & change.new.teams.keys()):
            joins, subject = name in present, Subject("member", member, f"team {name}")
            yield by_row("team-member", subject, as_kind="" if joins else "team-left", joins=joins, team=name)
    going = change.old.clusters.keys() - change.new.clusters.keys()
    ended = [_shares(change.old.shares, cluster) for cluster in going]
    for cluster in sorted({*(change.old.shares or ()), *(change.new.shares or ())} - going):
        before, after = (_shares(side.shares, cluster) for side in (change.old, change.new))
        # A cluster may take the place of another one, with its shares.
        if before != after and (cluster in change.old.clusters or after not in ended):
            old, new = ((side.shares or {}).get(cluster, {}) for side in (change.old, change.new))
            sent, sending = (
                {team for _, offer, _ in ways_without(side, cluster) for team in teams_of(side, offer)}
                for side in (change.old, change.new)
            )
            owners, hit = {*(change.new.owners(cluster) or old)}, {*(new and old)} - {*new}
            hit &= sent & change.new.teams.keys()
            words: dict[str, Any] = {"before": before, "after": after, "cluster": cluster}
            words["grade"] = Grade.NOTE if len(sending & owners) == 1 and not hit else None
            words["held"] = new and len(change.new.owners(cluster)) != 1 and not words["grade"]
            yield by_row("team-shares", Subject("cluster", cluster), edits=(Edit("shares", before, after),), **words)
    shut: set[tuple[str, str, str]] = set()
    coming = change.new.dormant.keys() & change.old.dormant.keys() & {each.name for each in change.new.coming}
    for cluster in sorted((change.new.clusters.keys() & change.old.clusters.keys()) | coming):
        was, now = ({*_uses(facts, cluster)} for facts in sides)
        had, has = change.old.owners(cluster), change.new.owners(cluster)
        fresh = sorted({member for member, *_ in now - was} - _members(change.before, cluster))
        came = [owner for owner in has if owner not in had and {*fresh} & {*change.new.teams[owner].submitters}]
        stayed = [each for each in had if each in change.new.teams and each in (has or had)]
        if fresh and had and ((came and stayed) or not has):
            words = {"owner": (came or had)[0], "had": called_teams(stayed or had), "joined": called_teams(came)}
            yield by_row("cluster-team-shared", Subject("cluster", cluster), details=map("`{}`".format, fresh), **words)
        ways = _kept_off(change.after, cluster)
        may = {(each, way[0].name) for way in ways for each in submitters_of(change.after, account_of(way[1]))}
        # Whoever leaves a team may still be in a group of it.
        kept = [(change.old.teams[each].submitters, change.new.teams[each].submitters) for each in had if each in has]
        gone = {member for old, new in kept for member in {*old} - {*new} if holding(new, member)}
        lost = {each for each in was - now if each[:2] in may and each[0] not in gone}
        # Members have to name their team, others have none to name.
        members = _members(change.after, cluster)
        nameable = {way[0].name for way in ways if {*teams_of(change.new, way[1])} & {*has}}
        for plain in (False, True):
            if some := {each[:2] for each in lost if (each[0] in members and each[1] in nameable) is plain}:
                yield from _closed(change, cluster, ways, some, shut, plain=plain)


def _shares(shares: Mapping[str, Mapping[str, int]] | None, cluster: str) -> str:
    of_teams = sorted((shares or {}).get(cluster, {}).items())
    return ", ".join(f"{team} {machines}" for team, machines in of_teams) or "none"


def _closed(
    change: Change,
    cluster: str,
    ways: Sequence[Way],
    lost: Collection[tuple[str, str]],
    told: set[tuple[str, str, str]],
    *,
    plain: bool,
) -> Iterator[Consequence]:
    """Yield that members can't send jobs to a cluster, by `plain` without `--team`, and the templates that run nowhere
    else. `told`: members with a template and its case that run on no cluster of the same teams, which grows."""
    members, names = sorted({member for member, _ in lost}), sorted({name for _, name in lost})
    every = [name for name in names if all((member, name) in lost for member in members)]
    shut = [way for way in ways if way[0].name in every]
    words: dict[str, Any] = {"plain": plain, "waits": ways[0][1].dormant}
    words |= {
        "team": in_backticks(change.new.owners(cluster), "or"),
        "shut": in_backticks(every),
    }
    open_to_all = [(*way[:2], [each for each in way[2] if not change.new.owners(each.cluster)]) for way in shut]
    words["left"] = "" if plain else left(open_to_all, change.new, others=True)
    people, subject = [f"`{member}`" for member in members], Subject("cluster", cluster, "without --team" * plain)
    words["who"] = named(people)
    yield by_row("cluster-team-closed", subject, details=people, **words)
    for template, offer, *_ in (way for way in ways if not (way[2] or way[1].dormant)):
        case = whose([offer], template).lstrip()
        hit = [each for each in members if (each, template.name) in lost and (each, template.name, case) not in told]
        told |= {(each, template.name, case) for each in hit}
        if hit:
            usage, shut_out = TemplateChange(change, template, template), in_backticks(hit)
            words["part"] = f"cluster {cluster} {case}{' without --team' * plain}".strip()
            used = usage.used.having(lambda job, when=offer.when: is_case(job, when))  # type: ignore[misc]
            yield usage.tells("cluster-team-shut", case=case, lost=shut_out, used=used, **words)


def _uses(facts: Facts, cluster: str) -> Iterator[tuple[str, str, bool]]:
    """Yield members with what they may send to a cluster, and whether without `--team`: to a team's its members, others
    what counts for it alone."""
    owners = facts.catalog.owners(cluster)
    for template, offer, _ in ways_without(facts.catalog, cluster):
        plain = {not owners or (len(teams_of(facts.catalog, offer)) == 1 and not offer.team), False}
        yield from ((member, template.name, each) for member in users_of(facts, template, offer) for each in plain)


def _members(facts: Facts, cluster: str) -> set[str]:
    return {each for each in facts.people if {*groups_of(facts.catalog, [each])} & {*facts.catalog.owners(cluster)}}


def _kept_off(facts: Facts, cluster: str) -> list[Way]:
    """Return the ways to a team's cluster by `--team` alone, or to one that is to come, without the rest on other
    clusters of the same teams."""
    catalog, owners = facts.catalog, {*facts.catalog.owners(cluster)}
    return [
        (template, offer, [each for each in rest if not owners.issuperset(catalog.owners(each.cluster) or ("",))])
        for template, offer, rest in ways_without(catalog, cluster)
        if owners and (len(teams_of(catalog, offer)) > 1 or cluster in catalog.dormant)
    ]
