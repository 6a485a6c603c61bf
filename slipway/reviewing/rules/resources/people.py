"""People's access: submitters by member, and every other grant that the engine would make or remove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from slipway.authoring.stack.members import crowd
from slipway.base.formatting import counted, last_part
from slipway.deploying.deployment.shared_grants import who_needs
from slipway.deploying.deployment.workspace_plan import ACT_AS, SUBMITTER_ROLES
from slipway.deploying.engine.grants import Grant, gained_and_lost
from slipway.deploying.engine.preview import UNKNOWN
from slipway.google.jobs import VertexJob, distinct
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import label_value
from slipway.reviewing.change.change import Change, lapsed
from slipway.reviewing.rules.resources.roles import above, covers, rights
from slipway.reviewing.rules.resources.trainers import (
    acting,
    reads,
    secrets,
    submits_as,
    submitting_as,
    trainers_alone,
)
from slipway.reviewing.rules.words import LONGEST, capital, jobs, told_jobs

Grants = list[Grant]
_SUBMITTERS, _CODE, _BOARD = (f"slipway:workspace.{key}" for key in ("submitters", "code", "board"))
_ROOM = LONGEST - 4
"""The words of a sentence, less those before and after it."""
_ACCOUNTS = ".iam.gserviceaccount.com"
_PEOPLE = ("user:", "group:", "domain:")
_EVERYBODY = {"allUsers": "Anybody on the internet", "allAuthenticatedUsers": "Anybody with a Google account"}
_TO_SUBMIT = frozenset({SUBMITTER_ROLES["submit"], ACT_AS})
# The roles that the workspace grants on its buckets and its account, and to submitters on the project.
_ON_PLACES = frozenset({ACT_AS, *(f"roles/storage.object{one}" for one in ("Viewer", "Creator", "User"))})
_ON_PROJECT = frozenset(SUBMITTER_ROLES.values())


def people(change: Change) -> Iterator[Finding]:
    yield from _code(change)
    yield from _board(change)
    before, after = _submitters(change)
    for member in before:
        if member not in after:
            yield _gone(member, change, after)
    for member in after:
        if member not in before:
            yield _added(member, change)
    gained, lost = _gained_and_lost(change)
    for member in dict.fromkeys(one.member for one in (*lost, *gained)):
        gets, loses = ([one for one in some if one.member == member] for some in (gained, lost))
        own = _own(member, gets, loses, change, before, after)
        yield from _other(member, *own, change, before, after)


def _usual(grant: Grant) -> bool:
    return grant.ours and grant.role in (_ON_PLACES if grant.place else _ON_PROJECT)


def _code(change: Change) -> Iterator[Finding]:
    if change.before is None or change.after is None or change.before.code == change.after.code:
        return
    subject, catalog = Subject("workspace", "code"), change.after.catalog
    if change.after.code:
        words = f"Anybody who may submit may run unreviewed code{reads(catalog, catalog.trainer)}"
        more, clause = ", on templates that allow it", "submitters may run unreviewed code"
        yield KINDS["code-allowed"].of(subject, words, more=more, clause=clause, field=_CODE)
    else:
        words, more = "Submitters may not run code of their own any more", ": `slipway submit --code` is refused"
        yield KINDS["code-forbidden"].of(subject, words, more=more, field=_CODE)


def _board(change: Change) -> Iterator[Finding]:
    """Report who sees everybody's jobs and costs on the page that the hourly run writes."""
    shown = bool(change.old and change.old.board)
    if change.new is None or bool(change.new.board) == shown:
        return
    if shown:
        words, grade = "Nobody sees all jobs and costs on a page in the catalog's bucket any more", Grade.NOTE
    else:
        words, grade = "Whoever may read the catalog's bucket sees everybody's jobs and costs, on a page there", None
    yield KINDS["board-shown"].of(Subject("workspace", "board"), words, grade=grade, field=_BOARD)


def _submitters(change: Change) -> tuple[tuple[str, ...], tuple[str, ...]]:
    before = change.before.people if change.before else ()
    if change.after is None:
        return before, before
    after = change.after.people
    return (after, after) if change.before is None and change.unread else (before, after)


def _gone(member: str, change: Change, after: Iterable[str]) -> Finding:
    theirs, stay = _jobs_of(member, change), tuple(after)
    # The members of a group or a domain are not read: a person in one that stays loses nothing.
    wider = {"user:": ("group:", "domain:"), "group:": ("domain:",)}.get(member[: member.index(":") + 1], ())
    others = [one for one in stay if wider and one.startswith(wider)]
    words, more = f"`{member}` can't submit any more, nor read results and logs", ""
    needed = change.after.shared.get(member) if change.after else None
    if needed is not None:
        words = f"`{member}` can't submit here any more"
    if others:
        more = f", unless in {f'`{others[0]}`' if len(others) == 1 else 'a group that stays'}"
    if not stay:
        more += "; nobody is left who may"
    if theirs:
        told = told_jobs(theirs, change.now) if needed is None else f"their {counted(len(theirs), 'jobs')}"
        more += f"; {told} {'goes' if len(theirs) == 1 else 'go'} on"
    if needed is not None:
        why = f"{who_needs(needed, '`')} them" if needed else "nobody could tell who else needs them"
        more += f"; roles in the project stay, as {why}"
    details = jobs(theirs, change.now) if len(theirs) > 1 or needed is not None else ()
    unknown = distinct(change.jobs)
    if unknown and not _is_one(member):
        theirs_too = "whether it is theirs" if len(unknown) == 1 else "which of them are theirs"
        details = (f"{counted(len(unknown), 'unfinished jobs')} in the stack; {theirs_too} is not known",)
    grade = Grade.WARNING if others and member.startswith("user:") else None
    subject = Subject("member", member)
    return KINDS["submitter-gone"].of(subject, words, details=details, grade=grade, field=_SUBMITTERS, more=more)


def _added(member: str, change: Change) -> Finding:
    who, stranger = crowd(member), _stranger(member, change)
    alone = trainers_alone(change.after, member)
    key = f"slipway:trainers.{alone[0]}.submitters" if alone else _SUBMITTERS
    subject, may = Subject("member", member), "may run jobs at the stack's expense"
    if alone:
        may += submits_as(alone)
    elif change.after:
        may += reads(change.after.catalog, change.after.catalog.trainer)
    more = ", and read all results and logs"
    if who and not stranger:
        words = f"{who[0].upper()}{who[1:]} {may}"
        return KINDS["domain-access"].of(subject, words, field=key, more=f"{more}: submitter `{member}`")
    kind, grade = ("domain-access" if who else "submitter-added"), None
    if stranger:
        grade = Grade.BLOCKING if stranger not in (_NEW, _ELSEWHERE) else Grade.WARNING
        stranger = f", {stranger},"
    words, clause = f"`{member}`{stranger} {may}", f"`{member}` may run jobs"
    return KINDS[kind].of(subject, words, field=key, grade=grade, more=more, clause=clause)


_NEW, _ELSEWHERE = "of a domain new here", "of another project"


def _stranger(member: str, change: Change) -> str:
    """Return how a person's domain differs from those of all present submitters, and an account's project from the
    stack's; empty where one of them has it."""
    if member.startswith("serviceAccount:") and change.after:
        project = member.rpartition("@")[2].partition(".")[0]
        known = {change.after.catalog.project, *(one.rpartition("@")[2].partition(".")[0] for one in _before(change))}
        return "" if project in known or not member.endswith(f"@{project}{_ACCOUNTS}") else _ELSEWHERE
    domain = _domain(member)
    known = {_domain(one) for one in _before(change)} - {""}
    if not domain or not known or any(domain == one or domain.endswith(f".{one}") for one in known):
        return ""
    near = [one for one in get_close_matches(domain, known, 1, 0.85) if abs(len(one) - len(domain)) <= 1]
    return f"mistyped for `{near[0]}` or a stranger's" if near else _NEW


def _before(change: Change) -> tuple[str, ...]:
    return change.before.people if change.before else ()


def _domain(member: str) -> str:
    """Return the domain of people, `acme.example`; empty for accounts."""
    return member.rpartition("@" if "@" in member else ":")[2] if member.startswith(_PEOPLE) else ""


def _gained_and_lost(change: Change) -> tuple[Grants, Grants]:
    if change.preview is None and change.before and change.after:
        before, after = (dict.fromkeys(_of_facts(one)) for one in (change.before, change.after))
        return [one for one in after if one not in before], [one for one in before if one not in after]
    gained, lost = gained_and_lost(change.touched)
    return list(gained), list(lost)


def _of_facts(facts: Facts) -> Iterator[Grant]:
    for member in facts.people:
        roles = facts.submitters.get(member, SUBMITTER_ROLES)
        yield from (Grant(member, role, "the project", ours=True) for role in roles.values())


def _own(
    member: str, gets: Grants, loses: Grants, change: Change, before: Iterable[str], after: Iterable[str]
) -> tuple[Grants, Grants]:
    """Drop the grants that other findings report: of a submitter who comes or goes, of a bucket or an account that
    goes, of members who may act as a trainer."""
    going, accounts = change.going
    if member.partition(":")[2] in accounts:
        loses = []
    told = acting(change.before) - acting(change.after) if change.before and change.after else frozenset()
    loses = [
        one
        for one in loses
        if one.place not in going and not (one.ours and one.role == ACT_AS and (one.place, member) in told)
    ]
    gained = {one.role for one in gets}
    if member in before or member in after:
        stays = member in before and member in after
        loses = [one for one in loses if not one.ours or (stays and one.role not in gained)]
        gets = [one for one in gets if not _usual(one)]
    elif member.startswith(("serviceAccount:", UNKNOWN)):
        # The trainer's: its reads and writes are those of its buckets; on the project it may get more.
        successors = {one.role for one in gets if one.ours}
        loses = [one for one in loses if not (one.ours and one.role in successors)]
        gets = [one for one in gets if not (_usual(one) and one.place)]
    return gets, loses


def _other(
    member: str, gets: Grants, loses: Grants, change: Change, before: Iterable[str], after: Iterable[str]
) -> Iterator[Finding]:
    if not (gets or loses):
        return
    subject, submitters = Subject("member", member), _submitting(member, change)
    who, account = _who(member), member.partition(":")[2]
    if submitters:
        who = f"Jobs that run as `{account.partition('@')[0]}`, and so {submitters},"
    details = (*(f"gets {one.words}" for one in gets), *(f"loses {one.words}" for one in loses))
    reading = _reading(gets, change)
    graver = sorted(gets, key=above, reverse=True)
    fewest = rights(graver[:1], () if gets else loses[:1])
    others = f"{fewest.words}; {counted(len(gets) + len(loses) - 1, 'other right')} changed"
    for may in (rights(graver, loses), rights(graver, loses, 1), fewest._replace(words=others, role="")):
        if len(f"{who} {may.words}{reading}{may.role}".split()) <= _ROOM:
            break
    does, role, begins = may
    clause = f"{capital(submitters) or who} {begins}"
    words, details = f"{who} {does}{reading}", details if submitters or len(details) > 1 else ()
    if member not in after and {one.role for one in gets if one.ours} >= _TO_SUBMIT:
        yield _added(member, change)  # The components' publication could not be read.
    elif any(not any(covers(lost, one) for lost in loses) for one in gets):
        kind, grade = _kind_of(member, gets)
        yield KINDS[kind].of(subject, words, details=details, grade=grade, more=role, clause=clause)
    elif member in before and member in after and _TO_SUBMIT & {one.role for one in loses}:
        words = f"{who} stays a submitter, but {does}"
        details = (*details, *jobs(_jobs_of(member, change), change.now))
        yield KINDS["submitter-gone"].of(subject, words, details=details, more=role, clause=clause)
    elif all(one.ours and lapsed(change, account, one.role, one.place) for one in loses):
        words = f"`{member}` {does}, which it kept for jobs that have ended"
        yield KINDS["access-lapsed"].of(subject, words, details=details, more=role)
    elif all(one.ours for one in loses) and _was_shared(member, change):
        words = f"`{member}` {does}, kept for another stack that needs it no more"
        yield KINDS["access-lapsed"].of(subject, words, details=details, more=role)
    else:
        grade = Grade.NOTE if member in _EVERYBODY else None
        if submitters:
            words, grade = f"New jobs that run as `{account.partition('@')[0]}` {does}", _grade_of(loses, change)
        yield KINDS["access-gone"].of(subject, words, details=details, grade=grade, more=role)


def _was_shared(member: str, change: Change) -> bool:
    """Tell whether it had roles for another stack's sake alone: dropped before, and no trainer."""
    if change.before is None or member in change.before.people:
        return False
    trainers = (change.before.catalog.trainer, *change.before.catalog.trainers.values())
    return member in change.before.shared and member.partition(":")[2] not in trainers


def _reading(gets: Grants, change: Change) -> str:
    """Return `, and so read secret `hf-token``: a member who acts as an account reads what it reads."""
    found = (secrets(change.new, one.place) for one in gets if change.new and one.what == "account")
    return next((f", and so read {words}" for words in found if words), "")


def _submitting(member: str, change: Change) -> str:
    """Return `every submitter`, where jobs run as the member."""
    kind, _, account = member.partition(":")
    facts = change.after or change.before
    return submitting_as(facts, account) if kind == "serviceAccount" and facts else ""


def _grade_of(loses: Grants, change: Change) -> Grade | None:
    """Return the grade: jobs are sure to fail without the workspace's grants."""
    ours = change.new.buckets if change.new else ()
    return Grade.BLOCKING if any(one.ours or one.place in ours for one in loses) else None


def _kind_of(member: str, gained: Iterable[Grant]) -> tuple[str, Grade | None]:
    listed = list(gained)
    if member in _EVERYBODY:
        return "public-access", None
    if any(above(one) for one in listed):
        return "role-above-table", None
    if crowd(member):
        return "domain-access", None
    # Templates ask for the trainer's roles on the project.
    return "access-added", Grade.NOTE if all(_usual(one) for one in listed) else None


def _who(member: str) -> str:
    if member in _EVERYBODY:
        return f"{_EVERYBODY[member]} (`{member}`)"
    if member.startswith(UNKNOWN):
        return f"An account that this deployment makes (`{member.removeprefix(UNKNOWN).strip()}`)"
    who = crowd(member)
    return f"`{member}` ({who})" if who else f"`{member}`"


def _is_one(member: str) -> bool:
    return member.startswith(("user:", "serviceAccount:", "principal:"))


def _jobs_of(member: str, change: Change) -> tuple[VertexJob, ...]:
    address = member.partition(":")[2]
    names = {label_value(address), label_value(address.partition("@")[0]), label_value(last_part(address))}
    return tuple(one for one in distinct(change.jobs) if _is_one(member) and one.user in names - {""})
