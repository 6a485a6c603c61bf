"""Who may do what on a stack's buckets and accounts, and on its project, as read; and who of them is everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor

from slipway.catalog.model import Catalog
from slipway.cloud.connection import Connection
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.permissions import Bound
from slipway.deployment.live_reader import unanswered
from slipway.doctor.commands import revoke
from slipway.doctor.picture import Picture, Policy, UnseenPolicy
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join, short

REVIEWER = "roles/iam.securityReviewer"
_EVERYBODY = {"allUsers": "anybody on the internet", "allAuthenticatedUsers": "anybody with a Google account"}
_Ask = Callable[[], frozenset[Bound]]


def read(
    threads: Executor, connection: Connection, catalog: Catalog, identity: str
) -> Callable[[], tuple[Policy | UnseenPolicy, ...]]:
    """Asks at once for all of them; what it returns waits for the answers."""
    asked = [threads.submit(_policy, on, ours, ask, identity) for on, ours, ask in _policies(connection, catalog)]
    return lambda: tuple(one.result() for one in asked)


def _policies(connection: Connection, catalog: Catalog) -> list[tuple[Subject, frozenset[str], _Ask]]:
    """Of the project only what the trainers have there is the stack's."""
    ask, project = connection.permissions, catalog.project
    trainers = [one for one in (catalog.trainer, *catalog.trainers.values()) if one]
    members = frozenset(f"serviceAccount:{one}" for one in trainers)
    buckets = [one for one in (catalog.catalog_bucket, catalog.work_bucket) if one]
    found: list[tuple[Subject, frozenset[str], _Ask]] = []
    for name in buckets:
        found.append((Subject("bucket", name), frozenset(), lambda name=name: ask.policy_of_bucket(name)))  # type: ignore[misc]
    for address in dict.fromkeys(trainers):
        found.append(
            (Subject("account", address), frozenset(), lambda address=address: ask.policy_of_account(project, address))  # type: ignore[misc]
        )
    if members:
        found.append((Subject("project", project), members, lambda: ask.policy_of_project(project)))
    return found


def _policy(on: Subject, ours: frozenset[str], ask: _Ask, identity: str) -> Policy | UnseenPolicy:
    try:
        return Policy(on, ask(), ours)
    except CloudError as error:
        found = unanswered(error, f"getIamPolicy of {on}", REVIEWER, identity)
        return UnseenPolicy(**vars(found), of=on, gone=isinstance(error, NotFound))


def exposed(picture: Picture) -> Iterator[Finding]:
    """What everybody may do, whoever granted it: a stack file can't name them."""
    unseen = [one for one in picture.policies if isinstance(one, UnseenPolicy)]
    for on in (one.of for one in unseen if one.gone):
        yield KINDS["resource-gone"].of(on, f"{on} is not there any more", picture.up, "it makes it again")
    if unread := [one for one in unseen if not one.gone]:
        where = join(one.of for one in unread)
        words = f"you can't see whether everybody may use {where}: {short(unread[0].why, 200)}"
        mend = f"ask for {REVIEWER} on project {picture.project}"
        yield KINDS["role-missing"].of(Subject("role", REVIEWER), words, mend)
    for policy in (one for one in picture.policies if isinstance(one, Policy)):
        for one in sorted(policy.bound, key=lambda one: (one.role, one.member, one.condition)):
            who = _EVERYBODY.get(one.member)
            if who is not None:
                under = f" under condition {one.condition}" if one.condition else ""
                words = f"{who} has {one.role} on {policy.on}{under} ({one.member})"
                mend, means = revoke(policy.on, one, policy.bound), "then: slipway drift says what else was granted"
                yield KINDS["exposed"].of(
                    Subject(policy.on.what, policy.on.name, f"{one.role} {one.member}"), words, mend, means
                )
