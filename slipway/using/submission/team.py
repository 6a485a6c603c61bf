"""The team that a submission counts for: its template's own, else the only group that may submit it, else the one that
the submitter names. Pure."""

from __future__ import annotations

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, short
from slipway.google.catalog.lookup import groups_of
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.labels import TEAM, label_value


def team_of_submission(catalog: Catalog, template: Template, offer: Offer, asked: str, usual: str) -> str:
    """Return the team, empty where none is known. `asked` is the value of `--team`, and `usual` that of SLIPWAY_TEAM,
    which holds where nothing else decides.

    Raises ConfigError for a team that may not submit the template, and where the template belongs to another team.
    """
    own = offer.labels.get(TEAM, "")
    groups = (own,) if own else _groups(catalog, offer)
    named = label_value((asked or ("" if len(groups) == 1 else usual)).partition("@")[0])
    if not asked and (not named or not groups):
        return groups[0] if len(groups) == 1 else ""
    if named in groups:
        return named
    given = f"--team {short(asked)}" if asked else f"$SLIPWAY_TEAM ({short(usual)})"
    if own:
        raise ConfigError(
            f"{template.name} counts for team {own}, not for {given}",
            why=f"its template has the label {TEAM}={own}",
            fix="leave out --team",
        )
    raise ConfigError(
        f"{given} is none of the teams that may submit {template.name}",
        why=f"{join(groups) or 'none'} may: a team of stack {catalog.stack} or a group among its submitters",
        fix=" or ".join(f"--team {group}" for group in groups[:3]) if len(groups) > 1 else "leave out --team",
    )


def team_to_name(catalog: Catalog, template: Template, offer: Offer, team: str) -> str:
    """Return the value of `--team` by which a submission counts for a job's team; empty where it needs none, and where
    that team may not submit the template any more."""
    try:
        if team in ("", team_of_submission(catalog, template, offer, "", "")):
            return ""
        return team_of_submission(catalog, template, offer, team, "")
    except ConfigError:
        return ""


def nameable(catalog: Catalog, offer: Offer, cluster: str, user: str) -> tuple[str, ...]:
    """Return the teams of a cluster that a user's submission may count for by `--team`, as far as members tell."""
    groups = () if TEAM in offer.labels else _groups(catalog, offer)
    return tuple(
        team
        for team in catalog.owners(cluster)
        if team in groups and any(_may_be(member, user) for member in catalog.teams[team].submitters)
    )


def _may_be(member: str, user: str) -> bool:
    kind, _, name = member.partition(":")
    return kind != "user" or label_value(name.partition("@")[0]) == label_value(user.partition("@")[0])


def _groups(catalog: Catalog, offer: Offer) -> tuple[str, ...]:
    """Return the teams that may submit as the offer's account, and the groups in no team; those of all trainers where
    that account is none of the stack's."""
    known = catalog.submitters
    every = (member for submitters in known.values() for member in submitters)
    return groups_of(catalog, known.get(str(offer.spec.get("serviceAccount", "")), every))


def barred(catalog: Catalog, cluster: str, team: str) -> str:
    """Return whose a cluster is and who may use it, where a team's jobs may not; empty where they may."""
    owners = catalog.owners(cluster)
    if not owners or team in owners:
        return ""
    members = join(dict.fromkeys(member for owner in owners for member in catalog.teams[owner].submitters), "or")
    may = f"{members} may, with --team {owners[0]} or SLIPWAY_TEAM={owners[0]}" if members else "nobody is in it yet"
    this = f"team {team}" if team else "no team"
    return f"cluster {cluster} is of team {join(owners)}, and this counts for {this}; {may}"
