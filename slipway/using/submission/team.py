"""The team that a submission counts for: its template's own, else the only group that may submit it, else the one that
the submitter names. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from slipway.base.errors import Arguments, ConfigError, Fix
from slipway.base.formatting import join, short
from slipway.google.catalog.lookup import teams_of
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.labels import TEAM, label_value


def team_of_submission(catalog: Catalog, template: Template, offer: Offer, asked: str, usual: str) -> str:
    """Return the team, empty where none is known. `asked` is the value of `--team`, and `usual` that of SLIPWAY_TEAM,
    which holds where nothing else decides.

    Raises ConfigError for a team that may not submit the template, and where the template belongs to another team.
    """
    own, groups = offer.labels.get(TEAM, ""), teams_of(catalog, offer)
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
            fix=_leaving_out(asked),
        )
    raise ConfigError(
        f"{given} is none of the teams that may submit {template.name}",
        why=f"{join(groups) or 'none'} may: a team of stack {catalog.stack} or a group among its submitters",
        fix=_one_of(groups[:3]) if len(groups) > 1 else _leaving_out(asked),
    )


def _one_of(groups: Sequence[str]) -> Fix:
    parts: list[str | Arguments] = []
    for group in groups:
        parts += [" or ", {"team": group}]
    return tuple(parts[1:])


def _leaving_out(asked: str) -> Fix:
    return ("leave out ", {"team": asked}) if asked else "leave out the team"


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
    groups = () if TEAM in offer.labels else teams_of(catalog, offer)
    return tuple(
        team
        for team in catalog.owners(cluster)
        if team in groups and any(_may_be(member, user) for member in catalog.teams[team].submitters)
    )


def _may_be(member: str, user: str) -> bool:
    kind, _, name = member.partition(":")
    return kind != "user" or label_value(name.partition("@")[0]) == label_value(user.partition("@")[0])


def barred(catalog: Catalog, cluster: str, team: str, offer: Offer) -> str:
    """Return which teams' jobs a cluster takes, and how to submit for one; empty if it takes this team's jobs."""
    if not is_barred(catalog, cluster, team):
        return ""
    owners = catalog.owners(cluster)
    own = f", not of team {team}" if team else ""
    rule = f"cluster {cluster} takes only jobs of team {join(owners, 'or')}{own}"
    if TEAM in offer.labels:
        return f"{rule}, which the template's label {TEAM}={team} sets"
    possible = []
    for owner in owners:
        # Without a list of submitters, the teams of a template are unknown.
        if owner in teams_of(catalog, offer) or not catalog.submitters:
            members = join(catalog.teams[owner].submitters, "or")
            possible.append(f"--team {owner} or SLIPWAY_TEAM={owner} (for {members})")
    if not possible:
        return f"{rule}, and nobody in it may submit this template"
    return f"{rule}: add {join(possible, 'or')}"


def is_barred(catalog: Catalog, cluster: str, team: str) -> bool:
    """Tell whether a cluster takes jobs of other teams alone."""
    owners = catalog.owners(cluster)
    return bool(owners) and team not in owners
