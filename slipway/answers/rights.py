"""Rights of IAM roles, and the grants of the program on each side of a change. Pure.

Roles are split into rights, so that a role that includes another one neither gains nor loses what both allow. See
https://docs.cloud.google.com/iam/docs/roles-permissions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from slipway.answers.comparison import Comparison, Side
from slipway.deploying.deployment.workspace_plan import ACT_AS
from slipway.deploying.engine.grants import Grant, form, grants
from slipway.deploying.engine.preview import UNKNOWN, Preview, Resource
from slipway.deploying.engine.touched import ACCOUNT as ACCOUNT_TYPE
from slipway.deploying.engine.touched import BUCKET, Fate, Touched, said
from slipway.model.findings.finding import Subject

ACCOUNT = "service account"
SUBMITTERS = "submitters"
"""All submitters, as a member."""
Right = tuple[str, str, Subject]
"""A member, what they can do, and the resource."""
PUBLIC: Mapping[str, str] = {
    "allUsers": "anyone on the internet",
    "allAuthenticatedUsers": "anyone with a Google account",
}
"""Members that stand for the public."""

_GUARDS = ("forceDestroy", "deleteContentsOnDestroy", "deletionProtection", "deletionPolicy")
"""Inputs that decide whether a resource can be deleted with its contents."""
VERBS = {
    Fate.CREATED: "is created",
    Fate.ADOPTED: "is imported",
    Fate.REPLACED: "is replaced",
    Fate.DELETED: "is deleted",
    Fate.FORGOTTEN: "is no longer managed; it is kept and billed",
}

_LIST = "list objects"
_READ = "read objects"
_CREATE = "create objects"
_WRITE = "overwrite and delete objects"
_SHARE = "grant access to objects"
_BUCKET = "change and delete the bucket"
_VIEW_JOBS = "list jobs"
SUBMIT = "submit and cancel jobs"
_VIEW = "read most resources"
_EDIT = "change and delete most resources"
_OWN = "grant any role to anyone"
_ACT = "run code as the account"
_TOKENS = "create access tokens of the account"
_SECRET = "read the secret"
_RIGHTS: Mapping[str, tuple[str, ...]] = {
    "roles/viewer": (_VIEW,),
    "roles/editor": (_VIEW, _EDIT),
    "roles/owner": (_VIEW, _EDIT, _OWN),
    "roles/aiplatform.viewer": (_VIEW_JOBS,),
    "roles/aiplatform.user": (_VIEW_JOBS, SUBMIT),
    "roles/aiplatform.admin": (_VIEW_JOBS, SUBMIT, "administer Vertex AI"),
    "roles/cloudquotas.viewer": ("read quotas",),
    "roles/monitoring.viewer": ("read metrics",),
    "roles/logging.viewer": ("read logs",),
    ACT_AS: (_ACT,),
    "roles/iam.serviceAccountTokenCreator": (_TOKENS,),
    "roles/iam.workloadIdentityUser": (_TOKENS,),
    "roles/storage.legacyBucketReader": (_LIST,),
    "roles/storage.objectCreator": (_CREATE,),
    "roles/storage.objectViewer": (_LIST, _READ),
    "roles/storage.objectUser": (_LIST, _READ, _CREATE, _WRITE),
    "roles/storage.objectAdmin": (_LIST, _READ, _CREATE, _WRITE, _SHARE),
    "roles/storage.admin": (_LIST, _READ, _CREATE, _WRITE, _SHARE, _BUCKET),
    "roles/secretmanager.secretAccessor": (_SECRET,),
}
"""Rights by role. Any other role is one right, named by the role."""
_EVERYWHERE: Mapping[str, str] = {
    _LIST: "list objects in all buckets",
    _READ: "read objects in all buckets",
    _CREATE: "create objects in all buckets",
    _WRITE: "overwrite and delete objects in all buckets",
    _SHARE: "grant access to objects in all buckets",
    _BUCKET: "change and delete all buckets",
    _ACT: "run code as any service account",
    _TOKENS: "create access tokens of any service account",
    _SECRET: "read all secrets",
}
"""The same rights of a role on a project, a folder or an organisation."""
ACTS = (_ACT, _EVERYWHERE[_ACT])
"""Rights to submit as an account."""
_WIDE = ("", "folder", "organisation")
_STRONGEST = (
    _OWN,
    _EVERYWHERE[_TOKENS],
    _EVERYWHERE[_ACT],
    _EDIT,
    _TOKENS,
    _ACT,
    _SHARE,
    _BUCKET,
    _WRITE,
    SUBMIT,
    _SECRET,
    _READ,
)

_OF_SUBMITTERS: Mapping[str, tuple[str, ...]] = {
    "project": (_VIEW_JOBS, SUBMIT, "read quotas", "read metrics", "read logs"),
    "bucket": (_LIST, _READ, _CREATE),
    ACCOUNT: (_ACT,),
}
"""By the kind of a stack's own resources, the rights that every submitter has there."""


def rights_of(grant: Grant) -> tuple[str, ...]:
    rights = _RIGHTS.get(grant.role, (f"use `{grant.role}`",))
    if grant.what not in _WIDE:
        return rights
    return tuple(_EVERYWHERE.get(right, right) for right in rights)


def strength(right: str) -> int:
    """Return a number that is greater for a more powerful right."""
    if right in _STRONGEST:
        return len(_STRONGEST) + 1 - _STRONGEST.index(right)
    return 1 if "admin" in right.lower() else 0


def is_of_submitters(right: str, subject: Subject, comparison: Comparison) -> bool:
    """Return whether a submitter of the stack has the right there anyway."""
    catalog = comparison.new
    own = (*catalog.buckets, catalog.trainer, *catalog.trainers.values())
    is_own = subject.what == "project" or subject.name in own
    return is_own and right in _OF_SUBMITTERS.get(subject.what, ())


def subject_of(grant: Grant, comparison: Comparison) -> Subject:
    """Return the resource that a role is granted on."""
    what = grant.what or "project"
    if what == "account":
        what = ACCOUNT
    if grant.place == UNKNOWN:
        return Subject(f"new {what}")
    named = grant.on.split("`")
    return Subject(what, named[1] if len(named) > 1 else comparison.new.project)


def held(
    comparison: Comparison, side: Side, is_wanted: Callable[[Grant], bool] = lambda grant: True
) -> Mapping[Right, str]:
    """Return the rights that wanted grants give on one side, each with its condition; empty for none."""
    found: dict[Right, str] = {}
    for grant in filter(is_wanted, granted(comparison, side)):
        subject = subject_of(grant, comparison)
        for right in rights_of(grant):
            key = (grant.member, right, subject)
            # The same right without a condition includes it.
            found[key] = grant.condition if found.get(key, grant.condition) else ""
    return found


def including(found: Mapping[Right, str], asked: Iterable[Right], project: str) -> Mapping[Right, str]:
    """Return rights with those asked for that wider ones of them include."""
    included = dict(found)
    for right in asked:
        for wider in _wider(right, project):
            if wider in found:
                included.setdefault(right, found[wider])
    return included


def _wider(right: Right, project: str) -> Iterator[Right]:
    """Yield the rights that include one: of the whole domain, of the public, and on the whole project."""
    member, action, subject = right
    # A group may have members of other domains.
    members = [member, *PUBLIC]
    if member.startswith("user:"):
        members.append(f"domain:{domain_of(member)}")
    if member.startswith("team "):
        members.append(SUBMITTERS)
    for each in members:
        yield each, action, subject
        yield each, _EVERYWHERE.get(action, ""), Subject("project", project)


def fate_text(touched: Touched) -> str:
    """Return what happens to a resource, with its protection: is deleted (`forceDestroy` `true`)."""
    text = VERBS[touched.fate]
    if not touched.goes:
        return text
    if not touched.destroyed:
        return f"{text}; the old one is kept"
    was = {"forceDestroy": False, **touched.was} if touched.type == BUCKET else touched.was
    guards = [f"`{key}` {said(was[key])}" for key in _GUARDS if key in was]
    if touched.old is not None and touched.old.protected:
        guards.append("`protect` `true`")
    return f"{text} ({', '.join(guards)})" if guards else text


def resource_subject(touched: Touched) -> Subject:
    """Return a bucket, a service account, or another resource by its type, such as `bigquery.Dataset runs`."""
    if touched.type == BUCKET:
        return Subject("bucket", touched.physical)
    if touched.type == ACCOUNT_TYPE:
        state = touched.old or touched.new or Resource()
        return Subject(ACCOUNT, str(state.outputs.get("email") or touched.physical))
    provider, module, name = touched.type.split(":")
    title = f"{module.partition('/')[0]}.{name}"
    return Subject(title if provider == "gcp" else f"{provider} {title}", touched.name)


def granted(comparison: Comparison, side: Side) -> tuple[Grant, ...]:
    """Return the grants of the program on one side, those that it leaves unchanged included; none without a preview."""
    found: dict[Grant, None] = {}
    deleted: set[Grant] = set()
    for touched in _all_resources(comparison):
        before = tuple(grants(touched, touched.old))
        if side is Side.BEFORE:
            found.update(dict.fromkeys(before))
            continue
        state = touched.new or touched.old
        if touched.goes:
            state = touched.new
        found.update(dict.fromkeys(grants(touched, state)))
        if touched.fate is Fate.DELETED:
            # Pulumi deletes last, so that the member loses the role even if another resource grants it too.
            deleted.update(before)
    return tuple(grant for grant in found if grant not in deleted)


def _all_resources(comparison: Comparison) -> Iterator[Touched]:
    """Yield the resources of the program, the unchanged ones too."""
    yield from comparison.touched
    preview = comparison.preview or Preview()
    changed = {step.urn for step in preview.steps}
    for urn, step in preview.standing.items():
        if urn not in changed:
            yield Touched(Fate.CHANGED, step.type, step.name, step.parent, old=step.old, new=step.old)


_WHOLE_POOL = re.compile(r"principalSet:.*/workloadIdentityPools/([^/]+)/\*")


def shown_member(member: str) -> str:
    """Return a member as text: group `ml@acme.example`, anyone on the internet."""
    kind, _, name = member.partition(":")
    if member in PUBLIC:
        return PUBLIC[member]
    if member.startswith(UNKNOWN):
        return f"the new service account of `{member.removeprefix(UNKNOWN).strip()}`"
    if not name:
        return member
    pool = _WHOLE_POOL.fullmatch(member)
    if pool:
        return f"every identity of the workload identity pool `{pool[1]}`"
    words = {"user": "", "serviceAccount": "service account ", "domain": "all users of domain "}
    return f"{words.get(kind, f'{kind} ')}`{name}`"


def is_crowd(member: str) -> bool:
    """Return whether a member is the public, a domain or a whole identity pool, whose people no list names."""
    is_pool = member.startswith("principalSet:") and member.endswith("/*")
    return is_pool or member.startswith((*PUBLIC, "domain:"))


def domain_of(member: str) -> str:
    """Return the domain of people; empty for service accounts."""
    if not member.startswith(("user:", "group:", "domain:")):
        return ""
    return member.rpartition("@")[2].removeprefix("domain:").lower()


def created_names(comparison: Comparison) -> frozenset[str]:
    """Return the names of resources that the change creates, which hold nothing yet."""
    names: set[str] = set()
    for touched in comparison.touched:
        if touched.fate is Fate.CREATED and not touched.by_hand and form(touched.type) is None:
            names.update(str(touched.becomes.get(key)) for key in ("name", "secretId", "accountId"))
    return frozenset(names)
