"""People's access: submitters by member, and every other grant that the engine would make or remove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.authoring.policy.rules import crowd
from slipway.base.formatting import join
from slipway.deploying.deployment.shared_grants import who_needs
from slipway.deploying.engine.preview import UNKNOWN
from slipway.google.jobs import distinct
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.resources.access import AccessChange, access, field_of, usual
from slipway.reviewing.rules.resources.roles import above, rights
from slipway.reviewing.rules.resources.trainers import secrets, trainers_alone
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import jobs, named

_ACCOUNTS = ".iam.gserviceaccount.com"
_ENCRYPTS = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_PEOPLE = ("user:", "group:", "domain:")
_EVERYBODY = {"allUsers": "Anybody on the internet", "allAuthenticatedUsers": "Anybody with a Google account"}
_WIDER: Mapping[str, tuple[str, ...]] = {"user": ("group:", "domain:"), "group": ("group:", "domain:")}
"""Members by whom one may stay a submitter: nobody reads who is in a group or a domain."""


def people(change: Change) -> Iterator[Consequence]:
    # Switches of the workspace: whether people may bring code, open shells, see all on a page, or are told.
    read = secrets(change.new, change.new.trainer)
    so = f"it runs as the account that reads {read}" if read else "it runs as the account of every other job"
    sides = {key: (getattr(change.old, key), getattr(change.new, key)) for key in ("board", "shell", "notify")}
    for key, (was, now) in {"code": (change.before.code, change.after.code), **sides}.items():
        if (was or False) != (now or False):
            row = f"{key}-{'on' if now else 'off'}"
            yield by_row(row, Subject("workspace", key), so=so, secret=f"`{now or was}`")
    for member in access(change):
        if member.was and not member.stays:
            yield _gone(member)
        elif member.begins or (member.stays and not member.was):
            yield _added(member)
        if (member.gets or member.loses) and not member.begins:
            yield _other(member)


def _gone(member: AccessChange) -> Consequence:
    change, kind = member.change, member.member.partition(":")[0]
    stay, needed = change.after.people, change.after.shared.get(member.member)
    # A person in a group that stays loses nothing.
    others = [other for other in stay if other.startswith(_WIDER.get(kind, ()))] if kind in _WIDER else []
    domain = f"domain:{_domain(member.member)}"
    if domain in stay and needed is None:
        row = "submitter-gone-covered" + "-group" * (kind == "group")
        return by_row(row, Subject("member", member.member), domain=domain, field=field_of(change.new, domain))
    row = "submitter-gone-here" if needed is not None else "submitter-gone-unless" if others else "submitter-gone"
    row = "submitter-gone-script" if row == "submitter-gone" and kind == "serviceAccount" else row
    return by_row(
        row,
        Subject("member", member.member),
        so=_end(member),
        other=next(iter(others), ""),
        field=field_of(change.old, member.member),
        details=(*jobs(member.jobs, change.now), *_of_many(member)),
        grade=Grade.WARNING if others and kind == "user" else None,
    )


def _end(member: AccessChange) -> str:
    """Return how it ends for the roles in the project that another stack needs, or else for the member's jobs."""
    needed = member.change.after.shared.get(member.member)
    if needed:
        return f"roles in the project stay, as {who_needs(needed, '`')} them"
    if needed is not None:
        return "roles in the project stay, as nobody could tell who else needs them"
    if not member.change.after.people:
        return "nobody is left who may submit, and pools stay paid"
    ends = ["jobs sent so far go on"] if member.jobs or _of_many(member) else []
    # A person reads of it, and a script does not.
    by_itself = member.sent if member.member.startswith("serviceAccount:") else ()
    ends += [f"what submits {named(f'`{name}`' for name in by_itself)} as it fails"] if by_itself else []
    return "; ".join(ends)


def _of_many(member: AccessChange) -> tuple[str, ...]:
    """Return what is not known of a group's jobs."""
    unfinished = () if member.single else distinct(member.change.jobs)
    return ("not known: which unfinished jobs its members have sent",) if unfinished else ()


def _added(member: AccessChange) -> Consequence:
    change, who = member.change, crowd(member.member)
    stranger = _stranger(member)
    alone = trainers_alone(change.after, member.member)
    accounts = [change.after.trainers[name].account for name in alone] or [change.new.trainer]
    readable = next(filter(None, (secrets(change.new, account) for account in accounts)), "")
    so = f"any code of theirs can read {readable}" if readable else ""
    return by_row(
        f"{'domain' if who else 'submitter'}-added{'-alone' if alone else ''}",
        Subject("member", member.member),
        so=so,
        field=field_of(change.new, member.member),
        trainers=join(f"`{name}`" for name in alone),
        first=next(iter(alone), ""),
        who=f"{who[0].upper()}{who[1:]}" if who else f"{IT}, {stranger}," if stranger else IT,
        instead=_INSTEAD.get(stranger, _A_GROUP if who else "" if not stranger else _CORRECT),
        details=(f"as submitter `{member.member}`",) if who else (),
        grade=Grade.WARNING if stranger in _INSTEAD else Grade.BLOCKING if stranger else None,
    )


_NEW, _ELSEWHERE = "of a domain new here", "of another project"
_INSTEAD = {
    _NEW: "ask whether your organisation lets people of that domain in, else IAM refuses",
    _ELSEWHERE: "ask who may act as that account: they may submit too",
}
_A_GROUP, _CORRECT = "list a group: you know who is in it", "correct the domain: a stranger may own it"


def _stranger(member: AccessChange) -> str:
    """Return how a person's domain differs from those of all present submitters, and an account's project from the
    stack's; empty where one of them has it."""
    change, before = member.change, member.change.before.people
    if member.member.startswith("serviceAccount:"):
        project = member.member.rpartition("@")[2].partition(".")[0]
        known = {change.new.project, *(other.rpartition("@")[2].partition(".")[0] for other in before)}
        return "" if project in known or not member.member.endswith(f"@{project}{_ACCOUNTS}") else _ELSEWHERE
    domain, domains = _domain(member.member), {_domain(other) for other in before} - {""}
    if not domain or not domains or any(domain == other or domain.endswith(f".{other}") for other in domains):
        return ""
    # Needed only for a new domain: importing it costs time.
    from difflib import get_close_matches

    near = [other for other in get_close_matches(domain, domains, 1, 0.85) if abs(len(other) - len(domain)) <= 1]
    return f"mistyped for `{near[0]}` or a stranger's" if near else _NEW


def _domain(member: str) -> str:
    """Return the domain of people, `acme.example`; empty for accounts."""
    return member.rpartition("@" if "@" in member else ":")[2] if member.startswith(_PEOPLE) else ""


def _other(member: AccessChange) -> Consequence:
    does, *others = rights(member.gets, member.loses)
    row, grade, ends = _judged(member)
    crowded = crowd(member.member)
    who = _EVERYBODY.get(member.member) or (f"{IT} ({crowded})" if crowded else IT)
    if member.member.startswith(UNKNOWN):
        who = f"An account that this deployment makes (`{member.member.removeprefix(UNKNOWN).strip()}`)"
    elif member.submitters:
        who = f"Jobs that run as `{member.account.partition('@')[0]}`"
    return by_row(
        row,
        Subject("member", member.member),
        does=does,
        who=who,
        so=ends,
        runs=member.submitters,
        details=(
            *others,
            *(f"gets {grant.words}" for grant in member.gets),
            *(f"loses {grant.words}" for grant in member.loses),
            *jobs(member.jobs if member.crippled else (), member.change.now),
        ),
        grade=grade,
    )


def _judged(member: AccessChange) -> tuple[str, Grade | None, str]:
    """Return a member's row, its grade where that is not the kind's, and its end where the row leaves it open."""
    runs, reads, everybody = member.submitters, member.reads, member.member in _EVERYBODY
    if member.widens:
        so = f"so {runs} may, by a job's code" if runs else f"and so may read {reads}" if reads else ""
        if everybody:
            return "public-access-by-grant", None, so
        if any(above(grant) for grant in member.gets):
            return "role-above-table-by-grant", None, so
        if crowd(member.member):
            return "domain-access-by-grant", None, so
        on_one = "-on-one" if all(grant.place for grant in member.gets) else ""
        # Templates ask for the trainer's roles on the project.
        return f"access-added{on_one}-by-grant", Grade.NOTE if all(map(usual, member.gets)) else None, so
    if member.crippled:
        return "submitter-crippled", None, ""
    if member.lapsed:
        return "access-lapsed", None, ""
    if member.was_shared:
        return "access-lapsed-shared", None, ""
    if runs:
        sure = any(grant.ours or grant.place in member.change.new.buckets for grant in member.loses)
        return "access-gone-of-jobs", Grade.BLOCKING if sure else None, ""
    if all(grant.role == _ENCRYPTS for grant in member.loses):
        return "access-gone-of-key", None, ""
    return "access-gone", Grade.NOTE if everybody else None, ""
