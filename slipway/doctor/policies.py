"""Who may do what on a stack's buckets and accounts, and on its project, as read; and who of them is everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor

from slipway.catalog.model import Catalog
from slipway.cloud.connection import Connection
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.permissions import Holder, Permissions
from slipway.deployment.live_reader import unanswered
from slipway.doctor.commands import revoke
from slipway.doctor.picture import Picture, Policy, UnseenPolicy
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join, short

REVIEWER = "roles/iam.securityReviewer"
_EVERYBODY = {"allUsers": "anybody on the internet", "allAuthenticatedUsers": "anybody with a Google account"}


def read(
    threads: Executor, connection: Connection, catalog: Catalog, identity: str
) -> Callable[[], tuple[Policy | UnseenPolicy, ...]]:
    """Ask for all of them at once; what it returns waits for the answers. Of the project only what the trainers have
    there is the stack's."""
    trainers = [one for one in dict.fromkeys((catalog.trainer, *catalog.trainers.values())) if one]
    holders: list[tuple[Holder, str]] = []
    holders += [("bucket", one) for one in (catalog.catalog_bucket, catalog.work_bucket) if one]
    holders += [("account", one) for one in trainers]
    holders += [("project", catalog.project)] if trainers else []
    members = frozenset(f"serviceAccount:{one}" for one in trainers)
    ask = connection.permissions(catalog.project)
    asked = [threads.submit(_policy, ask, what, name, members, identity) for what, name in holders]
    return lambda: tuple(one.result() for one in asked)


def _policy(
    ask: Permissions, what: Holder, name: str, trainers: frozenset[str], identity: str
) -> Policy | UnseenPolicy:
    on = Subject(what, name)
    try:
        return Policy(on, ask.policy(what, name), trainers if what == "project" else frozenset())
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
        for one in policy.sorted:
            if one.member in _EVERYBODY:
                on = Subject(policy.on.what, policy.on.name, f"{one.role} {one.member}")
                words = f"{_EVERYBODY[one.member]} has {one.role} on {policy.on}{one.under} ({one.member})"
                yield KINDS["exposed"].of(on, words, revoke(policy.on, one, policy.bound))
