"""The team that a submission counts for: its template's own, else the only group that may submit it, else the one that
the submitter names. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, short
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.kinds import KINDS
from slipway.model.labels import TEAM, label_value

_GROUP = "group:"


def team_of_submission(catalog: Catalog, template: Template, offer: Offer, asked: str, usual: str) -> str:
    """Return the team, empty where none is known. `asked` is the value of `--team`, and `usual` that of SLIPWAY_TEAM,
    which holds where nothing else decides.

    Raises ConfigError for a team that may not submit the template, and where the template belongs to another team.
    """
    labels = offer.request.get("labels")
    own = (labels if isinstance(labels, Mapping) else {}).get(TEAM, "")
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
        why=f"{join(groups) or 'none'} may: a team is a group among the submitters of stack {catalog.stack}",
        fix=" or ".join(f"--team {group}" for group in groups[:3]) if len(groups) > 1 else "leave out --team",
    )


def _groups(catalog: Catalog, offer: Offer) -> tuple[str, ...]:
    """Return the names of the groups that may submit as the offer's account, by the part of their addresses before the
    @; of all groups of the stack where that account is none of its trainers."""
    known = catalog.submitters
    kind = KINDS.get(offer.kind)
    account = str(kind.spec_of(offer.request).get("serviceAccount", "")) if kind else ""
    members = known.get(account, tuple(member for submitters in known.values() for member in submitters))
    groups = (member.removeprefix(_GROUP).partition("@")[0] for member in members if member.startswith(_GROUP))
    return tuple(dict.fromkeys(filter(None, map(label_value, groups))))
