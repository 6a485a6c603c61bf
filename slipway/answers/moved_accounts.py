"""Templates that move to a service account as which their submitters can't submit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.answers.comparison import DAYS, Comparison, Side
from slipway.answers.rights import ACTS, held, shown_member
from slipway.base.formatting import few
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import label_value, user_values


def moved_accounts(comparison: Comparison) -> Iterator[Finding]:
    """Yield the templates whose new account no submitter, or not each recent one, can submit as."""
    shared = comparison.old.templates.keys() & comparison.new.templates.keys()
    for name in sorted(shared):
        before = _accounts(comparison.old, name)
        added = _accounts(comparison.new, name) - before
        # The members who can run code as an account of another owner are unknown.
        for account in sorted(added & comparison.new.submitters.keys()):
            sentence, grade = _loss(comparison, name, account, before)
            if sentence:
                yield _finding(comparison, name, account, sentence, grade)


def _finding(comparison: Comparison, name: str, account: str, sentence: str, grade: Grade) -> Finding:
    field = "slipway:workspace.submitters"
    called = _called(comparison.new, account)
    if called in comparison.new.trainers:
        field = f"slipway:trainers.{called}.submitters"
    fix = f"list its users in `{field}`"
    subject = Subject("template", name)
    kind = KINDS["access-lost"]
    return kind.of(subject, sentence, fix, grade=grade, field=field)


def _accounts(catalog: Catalog, name: str) -> set[str]:
    """Return the service accounts of a template's jobs."""
    found: set[str] = set()
    for offer in catalog.templates[name].offers:
        account = offer.spec.get("serviceAccount", catalog.trainer)
        found.add(str(account))
    return found


def _called(catalog: Catalog, account: str) -> str:
    """Return the name of a trainer, or the first part of another account's address."""
    names = {address: name for name, address in catalog.trainers.items()}
    return names.get(account, account.partition("@")[0])


def _loss(comparison: Comparison, name: str, account: str, before: set[str]) -> tuple[str, Grade]:
    """Return who can no longer submit a template, and the severity; empty if all its users may still be able to."""
    called = f"`{_called(comparison.new, account)}`"
    members = {*comparison.new.submitters[account], *_granted(comparison, account)}
    if not members:
        return f"nobody can submit it: {called} has no submitters", Grade.BLOCKING
    users = _users(comparison, name)
    lost = sorted(users - _named_users(members))
    # The people of a group are not listed.
    has_groups = not all(map(user_values, members))
    if lost and not has_groups:
        users_lost = few(map(_quoted, lost), 3)
        return f"{users_lost}, who submitted it in the last {DAYS} days, can't submit as {called}", Grade.BLOCKING
    former = _members(comparison.old, before)
    left_out = sorted(former - members)
    if not left_out and not lost:
        return "", Grade.NOTE
    # Some former submitters keep the template, and nobody who used it lately is lost.
    grade = Grade.WARNING if former & members and not lost else Grade.BLOCKING
    only = f"only {few(map(shown_member, sorted(members)))} can submit it now, as {called}"
    if left_out:
        return f"{only}; no longer {few(map(shown_member, left_out))}", grade
    return f"{only}; in the last {DAYS} days {few(map(_quoted, lost), 3)} did", grade


def _named_users(members: Iterable[str]) -> frozenset[str]:
    """Return the users that these members name; the people of a group are not listed."""
    listed = map(user_values, members)
    return frozenset().union(*listed)


def _quoted(user: str) -> str:
    return f"`{user}`"


def _members(catalog: Catalog, accounts: Iterable[str]) -> set[str]:
    """Return who can submit as any of these accounts."""
    found: set[str] = set()
    for account in accounts:
        members = catalog.submitters.get(account, ())
        found.update(members)
    return found


def _granted(comparison: Comparison, account: str) -> Iterator[str]:
    """Yield the members who can run code as an account by a grant of the program."""
    places = (account, comparison.new.project)
    for member, right, subject in held(comparison, Side.AFTER):
        if right in ACTS and subject.name in places:
            yield member


def _users(comparison: Comparison, name: str) -> set[str]:
    """Return the users of a template in the last days."""
    label = label_value(name)
    found: set[str] = set()
    for job in comparison.world.recent:
        if job.template == label:
            found.add(job.user)
    found.discard("")
    return found
