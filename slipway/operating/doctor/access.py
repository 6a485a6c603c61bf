"""Permissions of everybody and of the caller; and a finding for each part that could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace

from slipway.base.formatting import join, short
from slipway.google.connection import Connection
from slipway.google.failures import CloudError, NotFound
from slipway.google.live import Unknown
from slipway.google.live_reader import unanswered
from slipway.google.permissions import Holder, Permissions
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import CUSTOM_JOB
from slipway.operating.doctor.picture import Need, Picture, Policy, UnseenPolicy
from slipway.operating.doctor.place import Place

REVIEWER = "roles/iam.securityReviewer"
_EVERYBODY = {"allUsers": "anybody on the internet", "allAuthenticatedUsers": "anybody with a Google account"}
_JOBS = f"aiplatform.{CUSTOM_JOB.collection}"
NEEDS = (
    Need("catalog", "storage.objects.get", "roles/storage.objectViewer", "every command"),
    Need("project", f"{_JOBS}.list", "roles/aiplatform.viewer", "slipway jobs, pools and schedule"),
    Need("project", f"{_JOBS}.create", "roles/aiplatform.user", "slipway submit and jobs cancel"),
    Need("trainer", "iam.serviceAccounts.actAs", "roles/iam.serviceAccountUser", "slipway submit"),
    Need("project", "logging.logEntries.list", "roles/logging.viewer", "slipway jobs logs and --follow"),
    Need("project", "monitoring.timeSeries.list", "roles/monitoring.viewer", "the use of machines in jobs show"),
    Need("project", "cloudquotas.quotas.get", "roles/cloudquotas.viewer", "slipway quota"),
    Need("work", "storage.objects.get", "roles/storage.objectViewer", "slipway jobs download"),
    Need("work", "storage.objects.create", "roles/storage.objectCreator", "--code, --wait-for and a request id"),
)
"""The roles of docs/cli.md, under "What each verb needs"."""


def gaps(permissions: Permissions, place: Place, catalog: Catalog | None) -> tuple[Need, ...]:
    """Ask each service which permissions the caller lacks. Raises CloudError. Names from a catalog are asked about only
    once it was read; missing resources are reported elsewhere."""
    holders: dict[str, tuple[Holder, str]] = {
        "project": ("project", place.project),
        "catalog": ("bucket", place.address.bucket),
    }
    if catalog is not None:
        holders |= {"work": ("bucket", catalog.work_bucket), "trainer": ("account", catalog.trainer)}
    found: list[Need] = []
    for key, (what, name) in holders.items():
        needs = [one for one in NEEDS if one.on == key and name]
        try:
            held = permissions.held(what, name, [one.permission for one in needs]) if needs else ()
        except NotFound:
            continue
        on = {"project": f"project {name}", "bucket": f"gs://{name}"}.get(what, name)
        found += [replace(one, on=on) for one in needs if one.permission not in held]
    return tuple(found)


def read_policies(
    threads: Executor, connection: Connection, catalog: Catalog, identity: str
) -> Callable[[], tuple[Policy | UnseenPolicy, ...]]:
    """Begin to ask for all policies at once; the returned function waits for the answers. In the project's policy only
    the trainers' grants are the stack's."""
    trainers = [one for one in dict.fromkeys((catalog.trainer, *catalog.trainers.values())) if one]
    holders: list[tuple[Holder, str]] = []
    holders += [("bucket", one) for one in catalog.buckets]
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
    """Find grants to everybody, whoever made them."""
    unseen = [one for one in picture.policies if isinstance(one, UnseenPolicy)]
    for on in (one.of for one in unseen if one.gone):
        yield KINDS["resource-gone"].of(on, f"{on} is not there any more", picture.up, "it makes it again")
    if unread := [one for one in unseen if not one.gone]:
        where = join(one.of for one in unread)
        words = f"you can't see whether everybody may use {where}: {short(unread[0].why, 200)}"
        mend = f"ask for {REVIEWER} on project {picture.project}"
        yield KINDS["role-missing"].of(Subject("role", REVIEWER), words, mend)
    for policy in (one for one in picture.policies if isinstance(one, Policy)):
        for one in sorted(policy.bound):
            if one.member in _EVERYBODY:
                on = Subject(policy.on.what, policy.on.name, f"{one.role} {one.member}")
                words = f"{_EVERYBODY[one.member]} has {one.role} on {policy.on}{one.under} ({one.member})"
                yield KINDS["exposed"].of(on, words, policy.revoke(one))


def roles(picture: Picture) -> Iterator[Finding]:
    for gap in () if isinstance(picture.gaps, Unknown) else picture.gaps:
        words = f"you don't have {gap.role} on {gap.on}, which {gap.verbs} needs"
        yield KINDS["role-missing"].of(Subject("role", gap.role, gap.on), words, f"ask for {gap.role} on {gap.on}")


def unread(picture: Picture) -> Iterator[Finding]:
    """Report API, identity, reason and role for each unread part; a disabled API is reported once."""
    backend = picture.backend
    vital = {
        "clusters": picture.clusters,
        "unfinished jobs": picture.jobs,
        "the catalog": picture.published,
        "the state": backend.state if backend else None,
    }
    others = {
        "the jobs of the last 30 days, so idle pools": picture.recent,
        "quota": picture.quota,
        "what jobs use of their machines": picture.use,
        "packages": picture.packages,
        "whether you have the roles that commands need": picture.gaps,
    }
    missing = {what: part for what, part in (vital | others).items() if isinstance(part, Unknown)}
    for api in dict.fromkeys(part.api.partition(" ")[0] for part in missing.values() if part.off):
        words, mend = f"the API {api} is switched off", f"gcloud services enable {api} --project={picture.project}"
        yield KINDS["api-off"].of(Subject("api", api), words, mend)
    for what, part in missing.items():
        if part.off:
            continue
        who = f" as {part.identity}" if part.identity else ""
        words = f"{what} can't be read: {f'{part.api}{who}: ' if part.api else ''}{part.why}"
        mend = f"slipway doctor{f' --stack {picture.stack}' if picture.document else picture.of_catalog}"
        means = f"again; it needs {part.role}" if part.role else "again"
        if part.role.startswith("roles/"):
            mend, means = f"ask for {part.role} on {part.on or f'project {picture.project}'}", ""
        yield KINDS["unread" if what in vital else "unread-part"].of(Subject(what), words, mend, means)
