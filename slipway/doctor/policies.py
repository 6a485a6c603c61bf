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
from slipway.doctor.finding import KINDS, Finding
from slipway.doctor.picture import Picture, Policy
from slipway.formatting import join, short
from slipway.live import Unknown

REVIEWER = "roles/iam.securityReviewer"
_EVERYBODY = {"allUsers": "anybody on the internet", "allAuthenticatedUsers": "anybody with a Google account"}
_Ask = Callable[[], frozenset[Bound]]


class Gone(Unknown):
    """The service does not have it any more."""


def read(
    threads: Executor, connection: Connection, catalog: Catalog, identity: str
) -> Callable[[], tuple[Policy | Unknown, ...]]:
    """Asks at once for all of them; what it returns waits for the answers."""
    asked = [threads.submit(_policy, on, ours, ask, identity) for on, ours, ask in _policies(connection, catalog)]
    return lambda: tuple(one.result() for one in asked)


def _policies(connection: Connection, catalog: Catalog) -> list[tuple[str, frozenset[str], _Ask]]:
    """Of the project only what the trainers have there is the stack's."""
    ask, project = connection.permissions, catalog.project
    trainers = [one for one in (catalog.trainer, *catalog.trainers.values()) if one]
    members = frozenset(f"serviceAccount:{one}" for one in trainers)
    buckets = [one for one in (catalog.catalog_bucket, catalog.work_bucket) if one]
    found: list[tuple[str, frozenset[str], _Ask]] = []
    for name in buckets:
        found.append((f"bucket {name}", frozenset(), lambda name=name: ask.policy_of_bucket(name)))  # type: ignore[misc]
    for address in dict.fromkeys(trainers):
        found.append(
            (f"account {address}", frozenset(), lambda address=address: ask.policy_of_account(project, address))  # type: ignore[misc]
        )
    if members:
        found.append((f"project {project}", members, lambda: ask.policy_of_project(project)))
    return found


def _policy(on: str, ours: frozenset[str], ask: _Ask, identity: str) -> Policy | Unknown:
    try:
        return Policy(on, ask(), ours)
    except CloudError as error:
        found = unanswered(error, f"getIamPolicy of {on}", REVIEWER, identity)
        return Gone(**vars(found)) if isinstance(error, NotFound) else found


def exposed(picture: Picture) -> Iterator[Finding]:
    """What everybody may do, whoever granted it: a stack file can't name them."""
    for on in (_on(gone) for gone in picture.policies if isinstance(gone, Gone)):
        yield KINDS["resource-gone"].of(on, f"{on} is not there any more", picture.up, "it makes it again")
    unread = [one for one in picture.policies if isinstance(one, Unknown) and not isinstance(one, Gone)]
    if unread:
        where = join(map(_on, unread))
        words = f"you can't see whether everybody may use {where}: {short(unread[0].why, 200)}"
        mend = f"ask for {REVIEWER} on project {picture.project}"
        yield KINDS["role-missing"].of(f"role {REVIEWER}", words, mend)
    for policy in (one for one in picture.policies if isinstance(one, Policy)):
        for one in sorted(policy.bound, key=lambda one: (one.role, one.member, one.condition)):
            who = _EVERYBODY.get(one.member)
            if who is not None:
                under = f" under condition {one.condition}" if one.condition else ""
                words = f"{who} has {one.role} on {policy.on}{under} ({one.member})"
                mend, means = revoke(policy.on, one, policy.bound), "then: slipway drift says what else was granted"
                yield KINDS["exposed"].of(f"{policy.on} {one.role} {one.member}", words, mend, means)


def _on(unread: Unknown) -> str:
    return unread.api.partition(" of ")[2]
