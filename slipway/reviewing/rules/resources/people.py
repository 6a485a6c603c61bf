"""People's access: submitters by member, and every other grant that the engine would make or remove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.authoring.policy.rules import crowd
from slipway.base.formatting import counted, join
from slipway.deploying.deployment.shared_grants import who_needs
from slipway.deploying.engine.events import unopened
from slipway.deploying.engine.grants import grants
from slipway.deploying.engine.preview import UNKNOWN
from slipway.google.catalog.lookup import groups_of, usual_offers
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import CODE_LABEL, label_value
from slipway.reviewing.change.change import DAYS, Change, lapsed
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import account_of, scripts, secret_in, timeout_of
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.declared import row_of
from slipway.reviewing.rules.resources.access import TO_SUBMIT, AccessChange, access, usual
from slipway.reviewing.rules.resources.roles import above, covers, rights
from slipway.reviewing.rules.resources.trainers import (
    budgets_of,
    called,
    deserted,
    domain_of,
    field_of,
    holding,
    secrets,
    submitted,
    submitting_as,
)
from slipway.reviewing.rules.table import RowName, by_row
from slipway.reviewing.rules.words import jobs, named, sent_by

_EVERYBODY = {"allUsers": "Anybody on the internet", "allAuthenticatedUsers": "Anybody with a Google account"}


def people(change: Change) -> Iterator[Consequence]:
    taking = [each for each in change.new.templates.values() if each.takes_code]
    every = (change.new.trainer, *change.new.trainers.values())
    taken = {account_of(offer) for each in taking for offer in each.offers}
    allow = named(f"`{each.name}`" for each in taking)
    switches = {key: (getattr(change.old, key), getattr(change.new, key)) for key in ("board", "shell", "notify")}
    # Where no template allowed code, nobody loses it.
    code = change.before.code and (change.after.code or any(each.takes_code for each in change.old.templates.values()))
    for key, (was, now) in {"code": (code, change.after.code), **switches}.items():
        if (was or False) != (now or False):
            row = row_of(f"workspace/{key}", was or None, now or None)
            names = [secret_in(str(side)) or str(side) for side in (now or was, was)]
            if now and names[0] == names[1]:  # By another version, or of another project.
                names = [str(side).removeprefix("projects/") for side in (now, was)]
            secret, former = map("`{}`".format, names)
            values: dict[str, Any] = {"allow": allow, "secret": secret, "was": former, "own": scripts(change.old)}
            values["read"] = secrets(change.new, *(taken if key == "code" else every))
            brought = [job for some in change.jobs_by_template.values() for job in some if CODE_LABEL in job.labels]
            values["details"] = jobs(brought, change.now) if key == "code" and not now else ()
            yield by_row(row, Subject("workspace", key), grade=Grade.BLOCKING if values["details"] else None, **values)
    yield from _sessions(change)
    was, now = (side.urgent or () for side in (change.old, change.new))
    # A group's are the jobs of the team that it is called like.
    teams = {name: label_value(name[6:].partition("@")[0]) for name in (*was, *now) if name.startswith("group:")}
    edits = (Edit("urgent", ", ".join(was), ", ".join(now)),)
    for name in sorted({*was} ^ {*now}, key=lambda name: (name in now, name)):
        team, side = teams.get(name, ""), change.after if name in now else change.before
        void, unlisted = team and team not in groups_of(side.catalog, side.people), name not in change.after.people
        told: dict[str, Any] = {"team": team, "void": void, "unlisted": unlisted and not team, "edits": edits}
        if name in now or not void:
            yield by_row("urgent-added" if name in now else "urgent-gone", Subject("urgent", name), **told)
    for member in access(change):
        if member.was and not member.stays:
            yield _gone(member)
        elif member.begins or (member.stays and not member.was):
            yield _added(member)
        if (member.gets or member.loses) and not member.begins:
            yield from map(_other, _apart(member))


def _sessions(change: Change) -> Iterator[Consequence]:
    """Compare where sessions may run, of the listed pools those that a template for them fits, and for how long."""
    listed = before, after = [side.sessions or SessionLimits() for side in (change.old, change.new)]
    first, later = (not scripts(side) for side in (change.old, change.new))
    if (first and later) or (before == after and (first or later or after.pools is None)):
        return
    catalogs = change.new if first else change.old, change.old if later else change.new
    # A session ends with its job at the latest.
    longest = timedelta(seconds=max(map(timeout_of, scripts(catalogs[1]))))
    ends = [min(side.max or longest, longest) for side in listed]
    shown = [replace(side, max=end if ends[0] != ends[1] else None) for side, end in zip(listed, ends, strict=True)]
    fitting = [_fitting(*side) for side in zip(shown, catalogs, strict=True)]
    if not (fitting[0].within(fitting[1]) and fitting[1].within(fitting[0])):
        nowhere = fitting[1].pools == () != after.pools
        yield by_row(
            "sessions-limited",
            Subject("workspace", "sessions"),
            # That nobody may hold machines is somebody's word; that no template fits them is not.
            grade=Grade.NOTE if first or later else Grade.BLOCKING if nowhere else None,
            first=first,
            later=later,
            before=fitting[0],
            after=fitting[1],
            edited=before != after,
            edits=(Edit("sessions", *map(str, listed)),) if before != after else (),
        )
    usual = [_fitting(*side, usual=True) for side in zip(listed, catalogs, strict=True)]
    refused = [(side.pools or ())[1:] or fit.pools == () for side, fit in zip(listed, usual, strict=True)]
    if refused[1] and not refused[0] and fitting[1].pools != () and not (first or later):
        words: dict[str, Any] = {"several": (after.pools or ())[1:], "pools": named(fitting[1].pools or (), "or")}
        words["grade"] = Grade.WARNING if words["several"] else None
        yield by_row("sessions-refused", Subject("workspace", "usual sessions"), **words)


def _fitting(limits: SessionLimits, catalog: Catalog, *, usual: bool = False) -> SessionLimits:
    """Return limits with the pools that templates for sessions fit, or those alone that they fit as they stand."""
    ways = [usual_offers(each) if usual else each.offers for each in scripts(catalog)]
    fit = {f"{each.cluster}/{pool}" for some in ways for each in some if each.available for pool in each.pools}
    fit |= {f"{each.dormant}/" for some in ways for each in some}  # Of one out of season nobody knows which pools.
    pools = limits.pools and tuple(each for each in limits.pools if {each, f"{each.partition('/')[0]}/"} & fit)
    return replace(limits, pools=pools)


def _gone(member: AccessChange) -> Consequence:
    change, kind = member.change, member.member.partition(":")[0]
    stay, needed = change.after.people, change.after.shared.get(member.member)
    others, theirs = holding(stay, member.member), {*submitted(change, change.before, member.member)}
    covering = [other for other in others if theirs.issubset(submitted(change, change.after, other))]
    sent, robot = sent_by(member.member, change.jobs), kind == "serviceAccount"
    details = jobs(sent, change.now)
    # A person reads of it, and a script does not.
    fails = [f"`{name}`" for name, some in change.jobs_by_template.items() if robot and sent_by(member.member, some)]
    told: dict[str, Any] = {"here": needed is not None, "needed": who_needs(needed, "`") if needed else ""}
    told |= {"nobody": not stay, "goes_on": details, "fails": named(fails), "details": details}
    told |= {"others": others, "field": field_of(change.before, change.after, member.member)}
    told["deserted"] = deserted(change, member.member)
    # A group may not hold somebody who has used the right so far.
    lately = sent_by(member.member, (job for some in change.jobs_by_template.values() for job in some if others))
    told |= {"lately": lately and counted(len(lately), "submission"), "days": DAYS}
    grade = Grade.WARNING if covering and kind == "user" and not lately else None
    grade = Grade.NOTE if f"domain:{domain_of(member.member)}" in covering and needed is None else grade
    return by_row("submitter-gone", Subject("member", member.member), grade=grade, **told)


def _added(member: AccessChange) -> Consequence:
    change, who = member.change, crowd(member.member)
    domain, domains = domain_of(member.member), {*map(domain_of, change.before.people)} - {""}
    strange = not who and domain and domains and not any(f".{domain}".endswith(f".{other}") for other in domains)
    trainers = {name: each for name, each in change.after.trainers.items() if member.member in each.submitters}
    # What a new account reads is told of the templates that move to it.
    accounts = [each.account for name, each in trainers.items() if name in change.before.trainers]
    common = ["the workspace's trainer"] * (member.member in change.after.submitters or not trainers)
    told: dict[str, Any] = {"crowd": who, "strange": strange, "as_kind": "domain-access" if who else ""}
    told["read"] = secrets(change.new, *accounts, *(change.new.trainer for _ in common))
    told["spent"] = budgets_of(change.new, member.member, *accounts)
    told["as"] = join([*common, *map(called, trainers.values())]) if change.after.trainers else ""
    told["field"] = field_of(change.after, change.before, member.member)
    who = f"{who[0].upper()}{who[1:]}" if who else f"{IT}, of a domain new here," if strange else IT
    # As of one who submits already, that a trainer that was there opens to them.
    grade = Grade.BLOCKING if accounts else Grade.WARNING if strange else None
    return by_row("submitter-added", Subject("member", member.member), who=who, grade=grade, **told)


def _other(member: AccessChange) -> Consequence:
    does, *others = rights(member.gets, member.loses)
    is_account, crowded = member.member.startswith("serviceAccount:"), crowd(member.member)
    runs = submitting_as(member.change.after, member.account) if is_account else ""
    row, kind, grade, ends = _judged(member, runs)
    theirs = sent_by(member.member, member.change.jobs) if member.was and member.stays else ()
    granted = {grant for touched in member.change.touched for grant in grants(touched, touched.new)}
    who = _EVERYBODY.get(member.member) or (f"{IT} ({crowded})" if crowded else IT)
    if member.member.startswith(UNKNOWN):
        who = f"An account that this deployment makes (`{member.member.removeprefix(UNKNOWN).strip()}`)"
    elif runs:
        who = f"Jobs that run as `{member.account.partition('@')[0]}`"
    return by_row(
        row,
        Subject("member", member.member),
        does=does,
        who=who,
        so=ends,
        as_kind=kind,
        runs=runs,
        anew=any(lost in granted for lost in member.loses),
        details=(
            *others,
            *(f"gets {grant.words}" for grant in member.gets),
            *(f"loses {grant.words}" for grant in member.loses),
            *jobs(theirs, member.change.now),
        ),
        grade=grade,
    )


def _apart(member: AccessChange) -> tuple[AccessChange, ...]:
    """Return what an account of jobs gets apart from what it loses, where no new right covers that: both matter."""
    runs = member.member.startswith("serviceAccount:") and submitting_as(member.change.after, member.account)
    lost = [grant for grant in member.loses if not any(covers(other, grant) for other in member.gets)]
    new = [grant for grant in member.gets if not any(covers(other, grant) for other in member.loses)]
    return (replace(member, gets=()), replace(member, loses=())) if runs and lost and new else (member,)


def _judged(member: AccessChange, runs: str) -> tuple[RowName, str, Grade | None, str]:
    """Return a member's row, kind and grade where they are not the row's, and its end. `runs`: whose jobs run as it."""
    change, everybody, ours = member.change, member.member in _EVERYBODY, all(grant.ours for grant in member.loses)
    if any(not any(covers(lost, grant) for lost in member.loses) for grant in member.gets):
        reads = secrets(change.new, *(grant.place for grant in member.gets if grant.what == "account"))
        so = f"so {runs} may, by a job's code" if runs else f"and so may read {reads}" if reads else ""
        shut = [grant.place for grant in member.gets if everybody and grant.place in unopened(change.preview)]
        if everybody and all(grant.place in (*change.new.buckets, *shut) for grant in member.gets):
            return "public-access-to-results", "", None, named(map("`{}`".format, shut))
        crowded = "public-access" if everybody else "domain-access" if crowd(member.member) else "access-added"
        kind = "role-above-table" if not everybody and any(map(above, member.gets)) else crowded
        # Templates ask for the trainer's roles on the project.
        plain = kind == "access-added" and all(map(usual, member.gets))
        return "access-added-by-grant", kind, Grade.NOTE if plain else None, so
    if member.was and member.stays and TO_SUBMIT & {grant.role for grant in member.loses}:
        return "submitter-crippled", "", None, ""
    accounts = (change.old.trainer, *change.old.trainers.values())
    # It had them for another stack's sake alone.
    others = not member.was and member.member in change.before.shared and member.account not in accounts
    if ours and (others or all(lapsed(change, member.account, grant.role, grant.place) for grant in member.loses)):
        return "access-lapsed", "", None, ""
    own, text = {*change.new.buckets}, str(change.new.templates)
    sure = runs and any(grant.ours or grant.place in own or f"gs://{grant.place}/" in text for grant in member.loses)
    return "access-gone", "", Grade.BLOCKING if sure else Grade.NOTE if everybody else None, ""
