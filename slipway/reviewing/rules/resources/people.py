"""People's access: submitters by member, and every other grant that the engine would make or remove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from slipway.authoring.policy.rules import crowd
from slipway.base.formatting import join
from slipway.deploying.deployment.shared_grants import who_needs
from slipway.deploying.engine.events import unopened
from slipway.deploying.engine.preview import UNKNOWN
from slipway.google.catalog.lookup import teams_of
from slipway.model.catalog.model import Catalog
from slipway.model.facts import TrainerFacts
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import CODE_LABEL, label_value
from slipway.reviewing.change.change import Change, lapsed
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import scripts, secret_in
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.declared import row_of
from slipway.reviewing.rules.resources.access import EVERYBODY, TO_SUBMIT, AccessChange, access, usual
from slipway.reviewing.rules.resources.roles import above, covers, rights
from slipway.reviewing.rules.resources.trainers import (
    called,
    deserted,
    domain_of,
    field_of,
    holding,
    secrets_read,
    submitted,
)
from slipway.reviewing.rules.table import RowName, by_row, say
from slipway.reviewing.rules.words import in_backticks, jobs, sent_by


def people(change: Change) -> Iterator[Consequence]:
    switches = {key: (getattr(change.old, key), getattr(change.new, key)) for key in ("board", "shell", "notify")}
    # Where no template allowed code, nobody loses it.
    code = change.before.code and (change.after.code or any(each.takes_code for each in change.old.templates.values()))
    for key, (was, now) in {"code": (code, change.after.code), **switches}.items():
        was, now = was or None, now or None
        if was != now:
            row = row_of(f"workspace/{key}", was, now)
            secret = secret_in(str(now or was)) or now or was
            values: dict[str, Any] = {"secret": f"`{secret}`", "own": scripts(change.old)}
            values["other"] = len({str(side).partition("/versions/")[0] for side in (was, now)}) > 1
            brought = [job for some in change.jobs_by_template.values() for job in some if CODE_LABEL in job.labels]
            values["details"] = jobs(brought, change.now) if key == "code" and not now else ()
            yield by_row(row, Subject("workspace", key), grade=Grade.BLOCKING if values["details"] else None, **values)
    yield from _urgent(change)
    for member in access(change):
        if member.was and not member.stays:
            yield _gone(member)
        elif member.begins or (member.stays and not member.was):
            yield _added(member)
        if (member.gets or member.loses) and not member.begins:
            yield from map(_other, _apart(member))


def _urgent(change: Change) -> Iterator[Consequence]:
    """Compare whose jobs may be urgent, also where an entry stays and a team is called otherwise."""
    was, now = (side.urgent or () for side in (change.old, change.new))
    for name in sorted({*was, *now}, key=lambda name: (name in now, name)):
        nobody, stays = [_lets_nobody(name, side) for side in (change.old, change.new)], name in was and name in now
        adds = nobody[0] if stays else name in now
        if stays and (nobody[0] == nobody[1] or not change.new.templates):
            continue
        row: RowName = "urgent-added" if adds else "urgent-gone"
        edits = () if stays else (Edit("urgent", ", ".join(was), ", ".join(now)),)
        words: dict[str, Any] = {"stays": stays, "nobody": not stays and nobody[adds], "others": now, "edited": edits}
        yield by_row(row, Subject("urgent", name), edits=edits, **words)


def _lets_nobody(urgent: str, catalog: Catalog) -> bool:
    """Tell whether an entry under `urgent` is a group that no job counts for: it counts for the team of its name."""
    kind, _, address = urgent.partition(":")
    teams = (team for offer in catalog.offers for team in teams_of(catalog, offer))
    return kind == "group" and label_value(address.partition("@")[0]) not in teams


def _gone(member: AccessChange) -> Consequence:
    change, kind = member.change, member.member.partition(":")[0]
    stay, needed = change.after.people, change.after.shared.get(member.member)
    others, theirs = holding(stay, member.member), {*submitted(change, change.before, member.member)}
    covering = [other for other in others if theirs.issubset(submitted(change, change.after, other))]
    told: dict[str, Any] = {"nobody": not stay, "here": needed is not None, "others": others}
    told["needed"] = who_needs(needed, "`") if needed else ""
    told["details"] = jobs(sent_by(member.member, change.jobs), change.now)
    told["field"] = field_of(change.before, change.after, member.member)
    told["deserted"] = deserted(change, member.member)
    # A group may not hold somebody who has used the right so far.
    lately = sent_by(member.member, (job for some in change.jobs_by_template.values() for job in some if others))
    grade = Grade.WARNING if covering and kind == "user" and not lately else None
    domain = f"domain:{domain_of(member.member)}"
    covered = domain in covering and needed is None
    told["covered"] = covered and kind == "user" and f"`{domain}`"  # A group may have people of other domains.
    grade = Grade.NOTE if covered else grade
    return by_row("submitter-gone", Subject("member", member.member), grade=grade, **told)


def _added(member: AccessChange) -> Consequence:
    change, who = member.change, crowd(member.member)
    domain, domains = domain_of(member.member), {*map(domain_of, change.before.people)} - {""}
    strange = not who and domain and domains and not any(f".{domain}".endswith(f".{other}") for other in domains)
    trainers = {name: each for name, each in change.after.trainers.items() if member.member in each.submitters}
    accounts = [each.account for name, each in trainers.items() if name in change.before.trainers]
    common = [called(TrainerFacts("", change.new.trainer))] * (member.member in change.after.submitters or not trainers)
    told: dict[str, Any] = {"crowd": f"{who[:1].upper()}{who[1:]}", "as_kind": "domain-access" if who else ""}
    read = (secrets_read(change.old, account) for account in (*accounts, *(change.new.trainer for _ in common)))
    told["read"] = in_backticks(sorted(frozenset().union(*read)))
    told["as"] = join([*common, *map(called, trainers.values())]) if change.after.trainers else ""
    told["field"] = field_of(change.after, change.before, member.member)
    # As of one who submits already, that a trainer that was there opens to them.
    grade = Grade.BLOCKING if accounts else Grade.WARNING if strange else None
    return by_row("submitter-added", Subject("member", member.member), strange=strange, grade=grade, **told)


def _other(member: AccessChange) -> Consequence:
    does, *others = rights(member.gets, member.loses)
    row, kind, grade, ends = _judged(member)
    theirs = sent_by(member.member, member.change.jobs) if member.was and member.stays else ()
    who = say(
        "access-of",
        made=member.member.startswith(UNKNOWN) and member.member.removeprefix(UNKNOWN).strip(),
        account=member.runs and member.account.partition("@")[0],
        all=member.member == "allUsers",
        google=member.member in EVERYBODY,
        crowd=crowd(member.member),
    )
    return by_row(
        row,
        Subject("member", member.member),
        does=does,
        who=who,
        so=ends,
        as_kind=kind,
        runs=member.runs,
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
    lost = [grant for grant in member.loses if not any(covers(other, grant) for other in member.gets)]
    new = [grant for grant in member.gets if not any(covers(other, grant) for other in member.loses)]
    return (replace(member, gets=()), replace(member, loses=())) if member.runs and lost and new else (member,)


def _judged(member: AccessChange) -> tuple[RowName, str, Grade | None, str]:
    """Return a member's row, kind and grade where they are not the row's, and its end."""
    change, everybody, ours = member.change, member.member in EVERYBODY, all(grant.ours for grant in member.loses)
    if any(not any(covers(lost, grant) for lost in member.loses) for grant in member.gets):
        shut = [grant.place for grant in member.gets if everybody and grant.place in unopened(change.preview)]
        if everybody and all(grant.place in (*change.new.buckets, *shut) for grant in member.gets):
            return "public-access-to-results", "", None, in_backticks(shut)
        crowded = "public-access" if everybody else "domain-access" if crowd(member.member) else "access-added"
        kind = "role-above-table" if not everybody and any(map(above, member.gets)) else crowded
        # Templates ask for the trainer's roles on the project.
        plain = kind == "access-added" and all(map(usual, member.gets))
        return "access-added-by-grant", kind, Grade.NOTE if plain else None, ""
    if member.was and member.stays and TO_SUBMIT & {grant.role for grant in member.loses}:
        return "submitter-crippled", "", None, ""
    accounts = (change.old.trainer, *change.old.trainers.values())
    # It had them for another stack's sake alone.
    others = not member.was and member.member in change.before.shared and member.account not in accounts
    if ours and (others or all(lapsed(change, member.account, grant.role, grant.place) for grant in member.loses)):
        return "access-lapsed", "", None, ""
    own, text = {*change.new.buckets}, str(change.new.templates)
    needed = any(grant.ours or grant.place in own or f"gs://{grant.place}/" in text for grant in member.loses)
    sure = member.runs and needed
    return "access-gone", "", Grade.BLOCKING if sure else Grade.NOTE if everybody else None, ""
