"""Clusters that become a team's, or everybody's: who may send jobs there, and templates that run nowhere else. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from slipway.base.formatting import usd
from slipway.google.catalog.lookup import groups_of, teams_of
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import TEAM
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import Way, account_of, ends_of, takes_sessions_alone, ways_without, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.trainers import submitters_of, teams_counted
from slipway.reviewing.rules.table import RowName, by_row
from slipway.reviewing.rules.templates.usage import TemplateChange, is_case
from slipway.reviewing.rules.words import named


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
        left, gone = former & change.new.teams.keys() - present, former - change.new.teams.keys()
        # Whose team is gone is in one of another name, told as such.
        joined = present - former - ({*change.new.teams} - {*change.old.teams} if gone else set())
        yield from (_moves("team-left", change.new, name, member) for name in sorted(left))
        yield from (_moves("team-joined", change.new, name, member) for name in sorted(joined))
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
            owners, without = {*(change.new.owners(cluster) or old)}, {*(new and old)} - {*new}
            alone, losing = len(sending & owners) == 1, sorted(without & sending & owners)
            words: dict[str, Any] = {"before": before, "after": after, "gone": not new, "cluster": cluster}
            words |= {"alone": alone, "lost": _called(losing)}
            words["grade"] = Grade.NOTE if alone and not without & sent else None
            yield by_row("team-shares", Subject("cluster", cluster), edits=(Edit("shares", before, after),), **words)
    # What a template's own label changes is told of the template.
    labelled = {name for name, each in change.old.templates.items() if any(TEAM in one.labels for one in each.offers)}
    coming = change.new.dormant.keys() & change.old.dormant.keys() & {each.name for each in change.new.coming}
    for cluster in sorted((change.new.clusters.keys() & change.old.clusters.keys()) | coming):
        was, now = ({*_uses(facts, cluster)} for facts in sides)
        had, has = change.old.owners(cluster), change.new.owners(cluster)
        fresh = sorted({member for member, *_ in now - was} - _members(change.before, cluster))
        came = [owner for owner in has if owner not in had and {*fresh} & {*change.new.teams[owner].submitters}]
        stayed, shares = [each for each in had if each in (has or had)], (change.new.shares or {}).get(cluster)
        if fresh and stayed and (came or not has):
            words = {"owner": (came or had)[0], "had": _called(stayed), "joined": _called(came) or "everybody"}
            words |= {"cluster": cluster, "without": _called(owner for owner in came if shares and owner not in shares)}
            yield by_row("cluster-team-shared", Subject("cluster", cluster), details=map("`{}`".format, fresh), **words)
        ways = _kept_off(change.after, cluster)
        may = {(each, way[0].name) for way in ways for each in submitters_of(change.after, account_of(way[1]))}
        lost = {each for each in was - now if each[:2] in may and each[1] not in labelled}
        # Members have to name their team, others have none to name.
        members = _members(change.after, cluster)
        for plain in (False, True):
            some = {each for each in lost if (each[0] in members) is plain}
            if shut := [way for way in ways if way[0].name in {template for _, template, _ in some}]:
                yield from _closed(change, shut, sorted({member for member, *_ in some}), plain=plain)


def _moves(row: RowName, catalog: Catalog, name: str, member: str) -> Consequence:
    """Say what a team has of which somebody who may submit before and after becomes one, or is one no more."""
    limit = catalog.budget.teams.get(name) if catalog.budget else None
    has = [f"cluster `{cluster}`" for cluster in catalog.teams[name].clusters]
    has += [f"a share of `{cluster}`" for cluster, shares in (catalog.shares or {}).items() if name in shares]
    has += ["machines of its own"] if any(offer.team == name for offer in catalog.offers) else []
    has += [f"{usd(limit)} a month"] if limit else []
    return by_row(row, Subject("member", member, f"team {name}"), team=name, has=named(has))


def _called(teams: Iterable[str]) -> str:
    """Return ``team `vision` ``, or ``teams `vision` and `speech` ``; empty for none."""
    some = [f"`{team}`" for team in teams]
    return f"team{'s' * (len(some) > 1)} {named(some)}" if some else ""


def _shares(shares: Mapping[str, Mapping[str, int]] | None, cluster: str) -> str:
    of_teams = sorted((shares or {}).get(cluster, {}).items())
    return ", ".join(f"{team} {machines}" for team, machines in of_teams) or "none"


def _closed(change: Change, ways: Sequence[Way], lost: Sequence[str], *, plain: bool) -> Iterator[Consequence]:
    """Yield that members can't send jobs to a cluster without `--team`, and the templates that run nowhere else."""
    cluster = ways[0][1].cluster or ways[0][1].dormant
    had, has = (side.owners(cluster) for side in (change.old, change.new))
    owner = next((each for each in has if each in teams_of(change.new, ways[0][1])), "")
    ends = [*ends_of((way for way in ways if way[2]), change.new), ""]
    left, came = ([each for each in one if each not in other] for one, other in ((had, has), (has, had)))
    parted = [] if plain else [each for each in had if not {*lost}.isdisjoint(change.old.teams[each].submitters)]
    words: dict[str, Any] = {"owner": owner, "cluster": cluster, "left": _called(left), "came": _called(came)}
    words |= {
        "plain": plain,
        "several": has[1:],
        "team": named((f"`{each}`" for each in has), "or"),
        "parted": _called(parted),
    }
    words["key"] = f"{[*left, *came, *parted, *has][0]}.{'clusters' if left or came else 'submitters'}"
    words["shut"] = named(f"`{name}`" for name in sorted({way[0].name for way in ways}))
    words["sessions"] = takes_sessions_alone(ways, change.new)
    words["void"] = named(f"`{each}`" for each in sorted({*(change.new.shares or {}).get(cluster, {})} - {*has}))
    grade = Grade.BLOCKING if words["sessions"] else None
    details, subject = [f"`{member}`" for member in lost], Subject("cluster", cluster, "without --team" * plain)
    words |= {"who": named(details), "elsewhere": ends[0], "waits": ways[0][1].dormant}
    yield by_row("cluster-team-closed", subject, details=[*details, *ends[1:-1]], grade=grade, **words)
    for template, offer, *_ in (way for way in ways if not (way[2] or way[1].dormant)):
        case, may = whose([offer], template).lstrip(), submitters_of(change.after, account_of(offer))
        if shut_out := named(f"`{member}`" for member in lost if member in may):
            told = TemplateChange(change, template, template)
            words["part"] = f"cluster {cluster} {case}{' without --team' * plain}".strip()
            used = told.used.having(lambda job, when=offer.when: is_case(job, when))  # type: ignore[misc]
            yield told.tells("cluster-team-shut", case=case, lost=shut_out, used=used, **words)


def _uses(facts: Facts, cluster: str) -> Iterator[tuple[str, str, bool]]:
    """Yield members with what they may send to a cluster, and whether without `--team`: to a team's its members, others
    what counts for it alone."""
    owners, members = facts.catalog.owners(cluster), _members(facts, cluster)
    for template, offer, _ in ways_without(facts.catalog, cluster):
        may = submitters_of(facts, account_of(offer))
        open_ = not owners or (len(teams_of(facts.catalog, offer)) == 1 and not offer.team)
        able = (member for member in may if open_ or member in members)
        yield from ((member, template.name, plain) for member in able for plain in {open_, False})


def _members(facts: Facts, cluster: str) -> set[str]:
    return {each for each in facts.people if {*groups_of(facts.catalog, [each])} & {*facts.catalog.owners(cluster)}}


def _kept_off(facts: Facts, cluster: str) -> list[Way]:
    """Return the ways to a team's cluster by `--team` alone, without the rest on other clusters of the same teams."""
    catalog, owners = facts.catalog, {*facts.catalog.owners(cluster)}
    return [
        (template, offer, [each for each in rest if not owners.issuperset(catalog.owners(each.cluster) or ("",))])
        for template, offer, rest in ways_without(catalog, cluster)
        if owners and len(teams_of(catalog, offer)) > 1
    ]
