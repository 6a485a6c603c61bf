"""Roles by their permissions, so that a grant is told to people who know no role by its name. Pure.

By https://docs.cloud.google.com/iam/docs/roles-permissions, shortened to the parts that a reviewer has to weigh.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from slipway.formatting import counted, short
from slipway.review.grants import Grant

ALLOWS: Mapping[str, Mapping[str, str | tuple[str, str]]] = {
    "": {
        "aiplatform.admin": ("delete clusters", "{and} {every} job, model {and} endpoint of {}"),
        "aiplatform.user": ("submit jobs {and} cancel anybody's in {}", "{and} delete models {and} endpoints"),
        "aiplatform.viewer": "see {every} job of {}, with its arguments",
        "browser": "see that {} exists",
        "cloudbuild.builds.editor": "run any code by builds in {}",
        "cloudquotas.admin": "ask for more quota in {}",
        "cloudquotas.viewer": "see the quota of {}",
        "compute.admin": "make {and} delete {every} machine, disk {and} network of {}",
        "compute.instanceAdmin.v1": ("make {and} delete {every} machine of {}", "{and} sign in to it"),
        "compute.networkAdmin": "change {and} delete {every} network of {}",
        "compute.networkUser": "attach machines to the networks of {}",
        "compute.viewer": "see {every} machine {and} network of {}",
        "editor": ("change or delete nearly anything in {}", "{and} run code as its accounts"),
        "iam.roleAdmin": "change what roles of {} allow",
        "iam.securityAdmin": "give anybody any role in {}",
        "iam.securityReviewer": "see who may do what in {}",
        "iam.serviceAccountCreator": "make accounts in {}",
        "logging.admin": "read {and} delete {every} log of {}",
        "logging.configWriter": "choose which logs of {} are kept",
        "logging.logWriter": "write logs of {}",
        "logging.privateLogViewer": "read {every} log of {}, of who read what too",
        "logging.viewer": "read {every} log of {}",
        "monitoring.admin": "delete {every} dashboard {and} alert of {}",
        "monitoring.editor": "change {and} delete {every} dashboard {and} alert of {}",
        "monitoring.metricWriter": "write metrics of {}",
        "monitoring.viewer": "see {every} metric of {}",
        "owner": ("do anything in {}", "{and} give anybody any role"),
        "resourcemanager.projectIamAdmin": "give anybody any role in {}",
        "serviceusage.serviceUsageAdmin": "switch APIs of {} on {and} off",
        "serviceusage.serviceUsageConsumer": "call APIs at the expense of {}",
        "serviceusage.serviceUsageViewer": "see which APIs are on in {}",
        "viewer": "see {every} setting, job {and} log of {}",
    },
    "account": {
        "iam.serviceAccountAdmin": ("delete {}", "{and} let anybody act as it"),
        "iam.serviceAccountKeyAdmin": ("make keys of {}", "{and} act as it from anywhere"),
        "iam.serviceAccountOpenIdTokenCreator": "sign in to other services as {}",
        "iam.serviceAccountTokenCreator": "act as {} from anywhere",
        "iam.serviceAccountUser": "run any code as {}",
        "iam.serviceAccountViewer": "see that {} exists",
        "iam.workloadIdentityUser": "act as {} from outside of Google Cloud",
    },
    "bucket": {
        "storage.admin": ("read or delete {} with {every} object", "{and} let anybody in"),
        "storage.bucketViewer": "see the settings of {}",
        "storage.legacyBucketOwner": ("write {and} delete {every} object of {}", "{and} let anybody in"),
        "storage.legacyBucketReader": "list {every} object of {}",
        "storage.legacyBucketWriter": "write {and} delete {every} object of {}",
        "storage.legacyObjectOwner": ("read {every} object of {}", "{and} open it to anybody"),
        "storage.legacyObjectReader": "read {every} object of {}",
        "storage.objectAdmin": "read, overwrite, delete {and} share {every} object of {}",
        "storage.objectCreator": "write new objects into {}",
        "storage.objectUser": "read, overwrite {and} delete {every} object of {}",
        "storage.objectViewer": "read {every} object of {}",
    },
    "crypto key": {
        "cloudkms.admin": ("destroy {}", "{and} with it what is encrypted"),
        "cloudkms.cryptoKeyDecrypter": "decrypt what is encrypted with {}",
        "cloudkms.cryptoKeyEncrypter": "encrypt with {}",
        "cloudkms.cryptoKeyEncrypterDecrypter": "encrypt {and} decrypt with {}",
    },
    "dataset": {
        "bigquery.admin": ("read {and} delete {every} table of {}", "{and} let anybody in"),
        "bigquery.dataEditor": "read, change {and} delete {every} table of {}",
        "bigquery.dataOwner": ("read {and} delete {every} table of {}", "{and} let anybody in"),
        "bigquery.dataViewer": "read {every} table of {}",
    },
    "repository": {
        "artifactregistry.admin": ("delete {} with {every} image {and} package", "{and} let anybody in"),
        "artifactregistry.reader": "pull {every} image {and} package of {}",
        "artifactregistry.repoAdmin": "push {and} delete {every} image {and} package of {}",
        "artifactregistry.writer": "push images {and} packages into {}, which jobs may run",
    },
    "secret": {
        "secretmanager.admin": "read, replace {and} delete the value of {}",
        "secretmanager.secretAccessor": "read the value of {}",
        "secretmanager.secretVersionAdder": "replace the value of {}",
        "secretmanager.secretVersionManager": "replace {and} destroy the value of {}",
        "secretmanager.viewer": "see that {} exists, not its value",
    },
    "service": {"run.invoker": "call {}"},
    "topic": {"pubsub.publisher": "send messages to {}", "pubsub.subscriber": "read messages of {}"},
}
"""By a role's resource, in a grant's own word, empty for a project: roles, less `roles/`. `{}` is replaced by that one
resource, or every such of the project. A headline has the first of two parts."""
_ABOUT = {role: about for about, rows in ALLOWS.items() for role in rows}
_GROWING = (
    ("viewer", "editor", "owner"),
    ("aiplatform.viewer", "aiplatform.user", "aiplatform.admin"),
    ("artifactregistry.reader", "artifactregistry.writer", "artifactregistry.repoAdmin", "artifactregistry.admin"),
    ("bigquery.dataViewer", "bigquery.dataEditor", "bigquery.dataOwner", "bigquery.admin"),
    ("logging.viewer", "logging.privateLogViewer", "logging.admin"),
    ("monitoring.viewer", "monitoring.editor", "monitoring.admin"),
    ("secretmanager.secretAccessor", "secretmanager.admin"),
    ("storage.objectCreator", "storage.objectUser", "storage.objectAdmin", "storage.admin"),
    ("storage.objectViewer", "storage.objectUser", "storage.objectAdmin", "storage.admin"),
)
"""Chains of roles, each of which allows all that those before it do."""
# Roles that let a member act as somebody else, or give away rights beyond its own; and all with an administrator's
# name.
_ABOVE = re.compile(
    r"roles/(owner|editor|iam\.(serviceAccount(OpenId)?TokenCreator|workloadIdentityUser)|(?i:.*admin.*))"
)
_LONGEST = 40
"""The characters of a condition in a sentence."""
_CAN, _CAN_NOT = {"every": "every", "and": "and"}, {"every": "any", "and": "or"}
_OF_ONE = frozenset({"roles/iam.serviceAccountUser", "roles/secretmanager.secretAccessor"})


def allowed(grant: Grant, words: Mapping[str, str] = _CAN) -> tuple[str, ...]:
    """Return `read every object of bucket `results``, and more parts of the sentence; none where the table has no such
    role."""
    role = grant.role.removeprefix("roles/")
    about = _ABOUT.get(role)
    if about is None:
        return ()
    row, of_all = ALLOWS[about][role], about and grant.what in ("", "folder", "organisation")
    on = f"{words['every']} {about} of {grant.on}" if of_all else grant.on
    under = (f"under condition `{short(grant.condition, _LONGEST)}`",) if grant.condition else ()
    return (*(part.format(on, **words) for part in ((row,) if isinstance(row, str) else row)), *under)


def denied(grant: Grant) -> tuple[str, ...]:
    """Return `read any object of bucket `results``, in the form that follows `can no longer`."""
    return allowed(grant, _CAN_NOT)


def covers(larger: Grant, smaller: Grant) -> bool:
    """Tell whether one allows all that the other does, on the same resource."""
    if larger.on != smaller.on or larger.condition:
        return False
    pair = [one.role.removeprefix("roles/") for one in (smaller, larger)]
    rows = (row for row in _GROWING if set(pair) <= set(row))
    return pair[0] == pair[1] or any(row.index(pair[0]) < row.index(pair[1]) for row in rows)


class Rights(NamedTuple):
    """A member's new and lost rights; for a single right, the role's name for the end; the beginning, for a
    headline."""

    words: str
    role: str
    clause: str


def rights(gets: Sequence[Grant], loses: Sequence[Grant], most: int = 2) -> Rights:
    """Return the rights without those that another right of the other list covers, and at most `most` of a kind."""
    news = [one for one in gets if not any(covers(other, one) for other in loses)]
    olds = [one for one in loses if not any(covers(other, one) for other in (*gets, *loses) if other is not one)]
    fewer = [one for one in gets if one not in news]
    parts = [
        _list("may ", [(*allowed(one), *_freed(one, loses)) for one in news if allowed(one)], most),
        _list("may only ", [allowed(one) for one in fewer if allowed(one)], most),
        _list("can no longer ", [denied(one) for one in olds if allowed(one) and not _shrinks(one, fewer)], most),
    ]
    nameless = [one for one in (*news, *olds) if not allowed(one)]
    if nameless:
        does = "gets" if nameless[0] in news else "loses"
        more = f" and {counted(len(nameless) - 1, 'more role')}" if len(nameless) > 1 else ""
        parts.append((f"{does} {nameless[0].words}{more}: nobody looked what that allows",) * 2)
    one = [*gets, *loses]
    name = f" (`{one[0].role}`)" if len(one) == 1 and not nameless else ""
    told = [part for part in parts if part]
    return Rights(", and ".join(words for words, _ in told), name, told[0][1] if told else "")


def _freed(gained: Grant, loses: Sequence[Grant]) -> tuple[str, ...]:
    before = next((one for one in loses if one.condition and (one.role, one.on) == (gained.role, gained.on)), None)
    return (f"without condition `{short(before.condition, _LONGEST)}` now",) if before and not gained.condition else ()


def _shrinks(lost: Grant, fewer: Sequence[Grant]) -> bool:
    return any(covers(lost, one) for one in fewer)


def _list(begin: str, phrases: Sequence[tuple[str, ...]], most: int) -> tuple[str, ...]:
    """Return the phrases, and the beginning of the first; nothing for none."""
    words, more = ", and ".join(map(", ".join, phrases[:most])), len(phrases) - most
    return (f"{begin}{words}{f', and {more} more' if more > 0 else ''}", begin + phrases[0][0]) if phrases else ()


def above(grant: Grant) -> bool:
    """Tell whether Slipway never needs to grant it: to act as any account of a project, or to read any of its secrets,
    is more than one. The name of a custom role tells nothing."""
    own = "/roles/" in grant.role
    return own or bool(_ABOVE.fullmatch(grant.role)) or (grant.role in _OF_ONE and not grant.place)
