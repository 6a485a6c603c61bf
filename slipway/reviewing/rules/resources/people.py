"""People's access: submitters by member, and every other grant that the engine would make or remove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from slipway.authoring.stack.members import crowd
from slipway.base.formatting import join
from slipway.deploying.deployment.shared_grants import who_needs
from slipway.deploying.engine.preview import UNKNOWN
from slipway.google.jobs import distinct
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import IT, Consequence, consequence
from slipway.reviewing.rules.resources.access import AccessChange, access, usual
from slipway.reviewing.rules.resources.roles import above, rights
from slipway.reviewing.rules.resources.trainers import secrets, trainers_alone
from slipway.reviewing.rules.words import jobs

_SUBMITTERS, _CODE, _BOARD = (f"slipway:workspace.{key}" for key in ("submitters", "code", "board"))
_ACCOUNTS = ".iam.gserviceaccount.com"
_PEOPLE = ("user:", "group:", "domain:")
_EVERYBODY = {"allUsers": "Anybody on the internet", "allAuthenticatedUsers": "Anybody with a Google account"}
_LET_COPY = "wait for the jobs and copy the results first; once listed again, all is as before"
_WIDER: Mapping[str, tuple[str, ...]] = {"user": ("group:", "domain:"), "group": ("domain:",)}
"""Members by whom one may stay a submitter: nobody reads who is in a group or a domain."""


def people(change: Change) -> Iterator[Consequence]:
    yield from _code(change)
    yield from _board(change)
    for member in access(change):
        if member.was and not member.stays:
            yield _gone(member)
        elif member.begins or (member.stays and not member.was):
            yield _added(member)
            if member.begins:
                continue
        if member.gets or member.loses:
            yield _other(member)


def _code(change: Change) -> Iterator[Consequence]:
    subject = Subject("workspace", "code")
    if change.after.code and not change.before.code:
        found = secrets(change.new, change.new.trainer)
        yield consequence(
            "code-allowed",
            subject,
            "may run unreviewed code, on templates that allow it",
            who="Anybody who may submit",
            so=f"it runs as the account that reads {found}" if found else "it runs as the account of every other job",
            instead="leave it off: code of a reviewed commit needs no such key",
            field=_CODE,
        )
    elif change.before.code and not change.after.code:
        yield consequence(
            "code-forbidden",
            subject,
            "may not run code of their own any more",
            who="Submitters",
            so="`slipway submit --code` is refused, what runs goes on",
            instead="they commit it, and submit once that is deployed",
            field=_CODE,
        )


def _board(change: Change) -> Iterator[Consequence]:
    """Report who sees everybody's jobs and costs on the page that the hourly run writes."""
    subject = Subject("workspace", "board")
    if change.new.board and not change.old.board:
        yield consequence(
            "board-shown",
            subject,
            "sees everybody's jobs and costs, on a page there",
            who="Whoever may read the catalog's bucket",
            so="all submitters may",
            instead="leave it off: `slipway board` shows the same to whoever runs it",
            field=_BOARD,
        )
    elif change.old.board and not change.new.board:
        gone = "sees all jobs and costs on a page in the catalog's bucket any more"
        yield consequence("board-shown", subject, gone, who="Nobody", grade=Grade.NOTE, field=_BOARD)


def _gone(member: AccessChange) -> Consequence:
    change, kind = member.change, member.member.partition(":")[0]
    stay, needed = change.after.people, change.after.shared.get(member.member)
    # A person in a group that stays loses nothing.
    others = [other for other in stay if other.startswith(_WIDER.get(kind, ()))] if kind in _WIDER else []
    does = "can't submit any more, nor read results"
    if needed is not None:
        does = "can't submit here any more"
    elif others:
        does = f"can't submit nor read results any more, unless in `{others[0]}`"
    return consequence(
        "submitter-gone",
        Subject("member", member.member),
        does,
        so=_end(member),
        instead=_LET_COPY,
        details=(
            *jobs(member.jobs, change.now),
            *_of_many(member),
            *(() if stay else ("nobody is left who may submit",)),
        ),
        grade=Grade.WARNING if others and kind == "user" else None,
        field=_SUBMITTERS,
    )


def _end(member: AccessChange) -> str:
    """Return how it ends for the roles in the project that another stack needs, or else for the member's jobs."""
    needed = member.change.after.shared.get(member.member)
    if needed:
        return f"roles in the project stay, as {who_needs(needed, '`')} them"
    if needed is not None:
        return "roles in the project stay, as nobody could tell who else needs them"
    return "jobs sent so far go on" if member.jobs or _of_many(member) else ""


def _of_many(member: AccessChange) -> tuple[str, ...]:
    """Return what is not known of a group's jobs."""
    unfinished = () if member.single else distinct(member.change.jobs)
    return ("not known: which unfinished jobs its members have sent",) if unfinished else ()


def _added(member: AccessChange) -> Consequence:
    change, who = member.change, crowd(member.member)
    stranger = _stranger(member)
    alone = trainers_alone(change.after, member.member)
    found = secrets(change.new, change.new.trainer)
    may = "may run jobs at the stack's expense, and read all results and logs"
    if alone:
        may = f"may run jobs as trainer {join(f'`{name}`' for name in alone)} alone, and read all results and logs"
    so = f"any code that is submitted so runs as the account that reads {found}" if found and not alone else ""
    return consequence(
        "domain-access" if who else "submitter-added",
        Subject("member", member.member),
        may,
        who=f"{who[0].upper()}{who[1:]}" if who else f"{IT}, {stranger}," if stranger else IT,
        so=so,
        instead=_INSTEAD.get(stranger, _A_GROUP if who else "" if not stranger else _CORRECT),
        details=(f"as submitter `{member.member}`",) if who else (),
        grade=Grade.WARNING if stranger in _INSTEAD else Grade.BLOCKING if stranger else None,
        field=f"slipway:trainers.{alone[0]}.submitters" if alone else _SUBMITTERS,
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
    near = [other for other in get_close_matches(domain, domains, 1, 0.85) if abs(len(other) - len(domain)) <= 1]
    return f"mistyped for `{near[0]}` or a stranger's" if near else _NEW


def _domain(member: str) -> str:
    """Return the domain of people, `acme.example`; empty for accounts."""
    return member.rpartition("@" if "@" in member else ":")[2] if member.startswith(_PEOPLE) else ""


def _other(member: AccessChange) -> Consequence:
    does, *others = rights(member.gets, member.loses)
    kind, grade, so, instead = _judged(member)
    return consequence(
        kind,
        Subject("member", member.member),
        does,
        who=_who(member),
        so=so,
        instead=instead,
        details=(
            *others,
            *(f"gets {grant.words}" for grant in member.gets),
            *(f"loses {grant.words}" for grant in member.loses),
            *jobs(member.jobs if member.crippled else (), member.change.now),
        ),
        grade=grade,
    )


_NARROW = "grant a role on the one thing that is needed, to one person, until a date"
_GRANT_AGAIN = "keep the grant until nobody needs it; granted again, all is as before"


def _judged(member: AccessChange) -> tuple[str, Grade | None, str, str]:
    """Return a member's kind of consequence, its grade, its end, and what to do instead."""
    runs, reads = member.submitters, member.reads
    if member.widens:
        end = f"so {runs} may, by a job's code" if runs else f"and so may read {reads}" if reads else ""
        return *_kind_of(member), end, _NARROW
    if member.crippled:
        return "submitter-gone", None, "they stay a submitter, but submissions are refused", _GRANT_AGAIN
    if member.lapsed:
        return "access-lapsed", None, "the role was kept for jobs that have ended", ""
    if member.was_shared:
        return "access-lapsed", None, "the roles were kept for another stack that needs them no more", ""
    if runs:
        ours = member.change.new.buckets
        sure = any(grant.ours or grant.place in ours for grant in member.loses)
        ends = f"new jobs of {runs} fail where they need it"
        return "access-gone", Grade.BLOCKING if sure else None, ends, _GRANT_AGAIN
    grade = Grade.NOTE if member.member in _EVERYBODY else None
    return "access-gone", grade, "what needs it is refused from then on", _GRANT_AGAIN


def _kind_of(member: AccessChange) -> tuple[str, Grade | None]:
    if member.member in _EVERYBODY:
        return "public-access", None
    if any(above(grant) for grant in member.gets):
        return "role-above-table", None
    if crowd(member.member):
        return "domain-access", None
    # Templates ask for the trainer's roles on the project.
    return "access-added", Grade.NOTE if all(usual(grant) for grant in member.gets) else None


def _who(member: AccessChange) -> str:
    if member.member in _EVERYBODY:
        return _EVERYBODY[member.member]
    if member.member.startswith(UNKNOWN):
        return f"An account that this deployment makes (`{member.member.removeprefix(UNKNOWN).strip()}`)"
    if member.submitters:
        return f"Jobs that run as `{member.account.partition('@')[0]}`"
    who = crowd(member.member)
    return f"{IT} ({who})" if who else IT
