"""Where sessions may hold machines, and for how long: in all, for each team, and with their usual machines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.base.formatting import join
from slipway.google.catalog.lookup import takers_of, teams_of, usual_offers
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.catalog.template import USUAL_SCRIPT, Offer, Template
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change, grouped
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import scripts, timeout_of
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import called_teams, in_backticks, named


def sessions(change: Change) -> Iterator[Consequence]:
    """Compare where sessions may run, of the listed pools those that a template for them fits, and for how long."""
    listed = before, after = [side.sessions or SessionLimits() for side in (change.old, change.new)]
    catalogs = change.old, change.new
    # Seasons begin and end without an edit.
    if not all(map(scripts, catalogs)) or (before == after and not change.edited):
        return
    yield from _to_name(change)
    if before == after and after.pools is None:
        return
    # A session ends with its job at the latest.
    longest = [timedelta(seconds=max(map(timeout_of, scripts(side)))) for side in catalogs]
    ends = [min(side.max or most, most) for side, most in zip(listed, longest, strict=True)]
    shown = [replace(side, max=end if ends[0] != ends[1] else None) for side, end in zip(listed, ends, strict=True)]
    of_teams = _by_team(change, shown)
    nobody = all(has.pools == () for _, has in of_teams.values())
    whole = [_fitting(*side, change) for side in zip(shown, catalogs, strict=True)]
    # Where the time alone differs, one line is for all.
    alike = all(had.pools == has.pools for had, has in (whole, *of_teams.values()))
    told = {team: whole if alike else pair for team, pair in of_teams.items()}
    # Those that may run nowhere have no time that changes.
    some = {team: pair for team, pair in told.items() if any(side.pools != () for side in pair)}
    changed = [team for team, (had, has) in some.items() if not (had.within(has) and has.within(had))]
    open_to_all = told[""][1].pools
    for (had, has), teams in grouped(changed, lambda team: tuple(told[team])).items():
        everybodys = "" in teams  # Whoever names no team takes everybody's machines.
        # Whoever loses a team's machines may take everybody's, where there are any.
        shuts = has.pools == () and after.pools and (everybodys or open_to_all == ())
        yield by_row(
            "sessions-limited",
            Subject("workspace", "sessions", "" if everybodys else join(teams)),
            # That nobody may hold machines is somebody's word; that no template fits them is not.
            grade=Grade.BLOCKING if shuts else Grade.NOTE if before == after and had.within(has) else None,
            unfit=bool(nobody and after.pools) and not _fits_any(after, change.new),
            teams=called_teams([team for team in of_teams if team not in teams] if everybodys else teams),
            beside=everybodys,
            before=had,
            after=has,
            edited=before != after,
            edits=(Edit("sessions", *map(str, listed)),) if before != after else (),
        )
    yield from _usual(change, listed, told)


def _to_name(change: Change) -> Iterator[Consequence]:
    """Tell of a second template, after which no command takes one by itself."""
    had, has = map(_usual_scripts, (change.old, change.new))
    if len(has) > 1 == len(had):
        names = in_backticks((template.name for template in has), "or")
        yield by_row("sessions-template", Subject("workspace", "usual template"), templates=names)


def _usual(
    change: Change, listed: Sequence[SessionLimits], told: Mapping[str, Sequence[SessionLimits]]
) -> Iterator[Consequence]:
    """Compare where sessions may run with the machines that they ask for by themselves, where they may run at all."""
    sides, of_teams = [*zip(listed, (change.old, change.new), strict=True)], _by_team(change, listed, usual=True)
    several = [(limits.pools or ())[1:] for limits, _ in sides]
    lost = [team for team, (had, has) in of_teams.items() if has.pools == () != had.pools and told[team][1].pools != ()]
    words: dict[str, Any] = {"several": several[0], "edited": sides[0][0] != sides[1][0]}
    subject = Subject("workspace", "usual sessions")
    if lost:
        everybodys = "" in lost
        shuts = everybodys or of_teams[""][1].pools == ()
        words |= {"unfit": True, "beside": everybodys, "grade": None if shuts else Grade.WARNING}
        words["teams"] = called_teams([team for team in of_teams if team not in lost] if everybodys else lost)
        words["pools"] = named(told[lost[0]][1].pools or (), "or")
        yield by_row("sessions-refused", subject, **words)
    worked = [team for team, (had, has) in of_teams.items() if had.pools != () and has.pools != ()]
    for pools, teams in grouped(worked, lambda team: of_teams[team][1].pools or ()).items():
        if several[1] and not several[0]:
            others, everybodys = [team for team in of_teams if team not in teams], "" in teams
            part = join(team or "no team" for team in teams) if others else ""
            words |= {"unfit": False, "beside": everybodys, "teams": called_teams(others if everybodys else teams)}
            words |= {"pools": named(pools, "or"), "grade": Grade.WARNING}
            yield by_row("sessions-refused", Subject("workspace", "usual sessions", part), **words)


def _by_team(
    change: Change, listed: Sequence[SessionLimits], *, usual: bool = False
) -> Mapping[str, Sequence[SessionLimits]]:
    """Return the limits before and after with the pools that the sessions may use that count for a team, `""` first:
    for none, as those of a new team did; that alone where they all count for one, as some may have done."""
    old, new = change.old, change.new
    had, has = map(_counted, (old, new))

    def former(team: str) -> str:
        if len(had) == 1:
            return ""
        if len(has) == 1:
            (team,) = has
        gone = (name for name in old.teams if name not in new.teams and team in new.teams)
        people = {*new.teams[team].submitters} if team in new.teams else set()
        return team if team in had else next((each for each in gone if people & {*old.teams[each].submitters}), "")

    return {
        team: [
            _fitting(listed[0], old, change, usual=usual, team=former(team)),
            _fitting(listed[1], new, change, usual=usual, team=team),
        ]
        for team in ("", *sorted(has if len(has) > 1 else ()))
    }


def _counted(catalog: Catalog) -> set[str]:
    """Return the teams that sessions may count for."""
    return {team for each in scripts(catalog) for offer in each.offers for team in teams_of(catalog, offer)}


def _fitting(
    limits: SessionLimits, catalog: Catalog, change: Change, *, usual: bool = False, team: str | None = None
) -> SessionLimits:
    """Return limits with the pools that templates for sessions fit, or the usual one as it stands, of those that the
    sessions may use that count for a team; `""`: for none."""
    offers = [
        offer
        for each in (_usual_scripts(catalog) if usual else scripts(catalog))
        for offer in (usual_offers(each, team=team or "") if usual else each.offers)
        if team is None or _may_use(team, catalog, each, offer)
    ]
    fit = {f"{each.cluster}/{pool}" for each in offers if each.available for pool in each.pools}
    # Of one that is to come nobody knows which of its pools; one that is there now is not there until then.
    coming = {each.name for each in catalog.coming} - (change.old.clusters.keys() if catalog is change.new else set())
    fit |= {f"{each.dormant}/" for each in offers if each.dormant in coming}
    pools = limits.pools and tuple(each for each in limits.pools if {each, f"{each.partition('/')[0]}/"} & fit)
    return replace(limits, pools=pools)


def _usual_scripts(catalog: Catalog) -> list[Template]:
    """Return the template that a command takes by itself; all of several of which it has to name one."""
    templates = scripts(catalog)
    return [each for each in templates if each.name == USUAL_SCRIPT] or templates


def _fits_any(limits: SessionLimits, catalog: Catalog) -> bool:
    """Tell whether a template for sessions fits a cluster of a listed pool, whether it can be had or not."""
    fit = {offer.cluster or offer.dormant for each in scripts(catalog) for offer in each.offers}
    return any(pool.partition("/")[0] in fit for pool in limits.pools or ())


def _may_use(team: str, catalog: Catalog, template: Template, offer: Offer) -> bool:
    teams = teams_of(catalog, offer)
    takes = team in takers_of(catalog, template, offer) if team else not offer.team
    counted = team or (teams[0] if len(teams) == 1 else "")
    return takes and counted in (catalog.owners(offer.cluster or offer.dormant) or (counted,))
