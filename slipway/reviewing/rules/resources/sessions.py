"""Where sessions may hold machines, and for how long: in all, for each team, and with their usual machines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.base.formatting import join
from slipway.google.catalog.lookup import takers_of, teams_of, usual_offers
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.catalog.template import Offer, Template
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change, grouped
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import scripts, timeout_of
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import called_teams, named


def sessions(change: Change) -> Iterator[Consequence]:
    """Compare where sessions may run, of the listed pools those that a template for them fits, and for how long."""
    listed = before, after = [side.sessions or SessionLimits() for side in (change.old, change.new)]
    catalogs = change.old, change.new
    if not all(map(scripts, catalogs)) or (before == after and after.pools is None):
        return
    # A session ends with its job at the latest.
    longest = [timedelta(seconds=max(map(timeout_of, scripts(side)))) for side in catalogs]
    ends = [min(side.max or most, most) for side, most in zip(listed, longest, strict=True)]
    shown = [replace(side, max=end if ends[0] != ends[1] else None) for side, end in zip(listed, ends, strict=True)]
    fitting = [_fitting(*side) for side in zip(shown, catalogs, strict=True)]
    nobody = fitting[1].pools == ()
    of_teams = _by_team(change, shown)
    # Where all lose the same, or the time alone differs, one line is for all.
    alike = nobody or all(had.pools == has.pools for had, has in of_teams.values())
    told = {team: fitting if alike else pair for team, pair in of_teams.items()}
    changed = [team for team, (had, has) in told.items() if not (had.within(has) and has.within(had))]
    for (had, has), teams in grouped(changed, lambda team: tuple(told[team])).items():
        everybodys = "" in teams  # Whoever names no team takes everybody's machines.
        keep = [team for team, (_, has) in of_teams.items() if team not in teams and has.pools != ()]
        yield by_row(
            "sessions-limited",
            Subject("workspace", "sessions", "" if everybodys else join(teams)),
            # That nobody may hold machines is somebody's word; that no template fits them is not.
            grade=Grade.BLOCKING if has.pools == () and after.pools and everybodys else None,
            unfit=bool(nobody and after.pools),
            teams=called_teams(keep if everybodys else teams),
            beside=everybodys,
            before=had,
            after=has,
            edited=before != after,
            edits=(Edit("sessions", *map(str, listed)),) if before != after else (),
        )
    usual = [_fitting(*side, usual=True, team="").pools for side in zip(listed, catalogs, strict=True)]
    several = [(side.pools or ())[1:] for side in listed]
    unfit = usual[1] == () != usual[0]
    open_to_all = told[""][1].pools
    if (unfit or (several[1] and not (several[0] or usual[0] == ()))) and open_to_all != ():
        keep = [team for team in of_teams if _fitting(after, change.new, usual=True, team=team).pools != ()]
        words: dict[str, Any] = {"unfit": unfit, "several": several[0], "edited": before != after}
        words |= {"pools": named((open_to_all if unfit else usual[1]) or (), "or"), "teams": called_teams(keep)}
        words["grade"] = None if unfit else Grade.WARNING
        yield by_row("sessions-refused", Subject("workspace", "usual sessions"), **words)


def _by_team(change: Change, listed: Sequence[SessionLimits]) -> Mapping[str, Sequence[SessionLimits]]:
    """Return the limits before and after with the pools that the sessions may use that count for a team, `""` first:
    for none, as those of a new team did."""
    had, has = map(_counted, (change.old, change.new))
    sides = [*zip(listed, (change.old, change.new), strict=True)]
    return {
        team: [_fitting(*side, team=team if team in had or side is sides[1] else "") for side in sides]
        for team in sorted(has)
    }


def _counted(catalog: Catalog) -> set[str]:
    return {"", *(team for each in scripts(catalog) for offer in each.offers for team in teams_of(catalog, offer))}


def _fitting(limits: SessionLimits, catalog: Catalog, *, usual: bool = False, team: str | None = None) -> SessionLimits:
    """Return limits with the pools that templates for sessions fit, of those that they fit as they stand, or of those
    that the sessions may use that count for a team; `""`: for none."""
    offers = [
        offer
        for each in scripts(catalog)
        for offer in (usual_offers(each, team=team or "") if usual else each.offers)
        if team is None or _may_use(team, catalog, each, offer)
    ]
    fit = {f"{each.cluster}/{pool}" for each in offers if each.available for pool in each.pools}
    dormant = {each.dormant for each in offers}
    fit |= {f"{each.name}/" for each in catalog.coming if each.name in dormant}  # Nobody knows which of its pools.
    pools = limits.pools and tuple(each for each in limits.pools if {each, f"{each.partition('/')[0]}/"} & fit)
    return replace(limits, pools=pools)


def _may_use(team: str, catalog: Catalog, template: Template, offer: Offer) -> bool:
    teams = teams_of(catalog, offer)
    takes = team in takers_of(catalog, template, offer) if team else not offer.team
    counted = team or (teams[0] if len(teams) == 1 else "")
    return takes and counted in (catalog.owners(offer.cluster) or (counted,))
