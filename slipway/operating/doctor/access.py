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
    Need("work", "storage.objects.create", "roles/storage.objectCreator", "--code, --wait-for, request ids, cancel"),
)
"""The roles of docs/cli.md, under "What each verb needs"."""


def gaps(permissions: Permissions, place: Place, catalog: Catalog | None) -> tuple[Need, ...]:
    """Ask each service which permissions the caller lacks: on the catalog's resources only once it was read. Missing
    resources are reported elsewhere. Raises CloudError."""
    holders: dict[str, tuple[Holder, str]] = {
        "project": ("project", place.project),
        "catalog": ("bucket", place.address.bucket),
    }
    if catalog is not None:
        holders |= {"work": ("bucket", catalog.work_bucket), "trainer": ("account", catalog.trainer)}
    lacking: list[Need] = []
    for key, (what, name) in holders.items():
        needs = [need for need in NEEDS if need.on == key and name]
        try:
            held = permissions.held(what, name, [need.permission for need in needs]) if needs else ()
        except NotFound:
            continue
        on = {"project": f"project {name}", "bucket": f"gs://{name}"}.get(what, name)
        lacking += [replace(need, on=on) for need in needs if need.permission not in held]
    return tuple(lacking)


def read_policies(
    threads: Executor, connection: Connection, catalog: Catalog | None, project: str, identity: str
) -> Callable[[], tuple[Policy | UnseenPolicy, ...]]:
    """Begin to ask for all policies at once, without a catalog for the project's alone; the returned function waits for
    the answers."""
    permissions = connection.permissions(project)
    if catalog is None:
        of_project = threads.submit(_policy, permissions, "project", project, frozenset(), identity)
        return lambda: (of_project.result(),)
    trainers = [account for account in dict.fromkeys((catalog.trainer, *catalog.trainers.values())) if account]
    holders: list[tuple[Holder, str]] = [("bucket", bucket) for bucket in catalog.buckets]
    holders += [("account", account) for account in trainers]
    if trainers:  # In the project's policy only their grants are the stack's.
        holders.append(("project", project))
    members = frozenset(f"serviceAccount:{account}" for account in trainers)
    asked = [threads.submit(_policy, permissions, what, name, members, identity) for what, name in holders]
    return lambda: tuple(policy.result() for policy in asked)


def _policy(
    permissions: Permissions, what: Holder, name: str, trainers: frozenset[str], identity: str
) -> Policy | UnseenPolicy:
    on = Subject(what, name)
    try:
        return Policy(on, permissions.policy(what, name), trainers if what == "project" else frozenset())
    except CloudError as error:
        unseen = unanswered(error, f"getIamPolicy of {on}", REVIEWER, identity)
        return UnseenPolicy(**vars(unseen), of=on, gone=isinstance(error, NotFound))


def exposed(picture: Picture) -> Iterator[Finding]:
    """Find grants to everybody, whoever made them."""
    unread = []
    for policy in picture.policies:
        if isinstance(policy, Policy):
            on = policy.on
            for grant in sorted(grant for grant in policy.bound if grant.member in _EVERYBODY):
                words = f"{_EVERYBODY[grant.member]} has {grant.role} on {on}{grant.under} ({grant.member})"
                subject = Subject(on.what, on.name, f"{grant.role} {grant.member}")
                yield KINDS["exposed"].of(subject, words, policy.revoke(grant))
        elif policy.gone:
            words = f"{policy.of} is not there any more"
            yield KINDS["resource-gone"].of(policy.of, words, picture.up, "it makes it again")
        else:
            unread.append(policy)
    if unread:
        where = join(policy.of for policy in unread)
        words = f"you can't see whether everybody may use {where}: {short(unread[0].why, 200)}"
        ask = unread[0].advice or f"ask for {REVIEWER} on project {picture.project}"
        yield KINDS["role-missing"].of(Subject("role", REVIEWER), words, ask)


def roles(picture: Picture) -> Iterator[Finding]:
    """Find roles that commands need and the caller lacks."""
    if isinstance(picture.gaps, Unknown):
        return
    for gap in picture.gaps:
        sentence = f"you don't have {gap.role} on {gap.on}, which {gap.verbs} needs"
        yield KINDS["role-missing"].of(Subject("role", gap.role, gap.on), sentence, f"ask for {gap.role} on {gap.on}")


def unread(picture: Picture) -> Iterator[Finding]:
    """Report API, identity, reason and role for each unread part; a disabled API is reported once."""
    backend = picture.backend
    vital = {
        "clusters": picture.clusters,
        "unfinished jobs": picture.jobs,
        "the catalog": picture.published,
        "the state": backend.state if backend else None,
    }
    secondary = {
        "what is paused": picture.pauses,
        "the jobs of the last 30 days, so idle pools": picture.recent,
        "quota": picture.quota,
        "what jobs use of their machines": picture.use,
        "packages": picture.packages,
        "whether you have the roles that commands need": picture.gaps,
    }
    missing = {what: part for what, part in (vital | secondary).items() if isinstance(part, Unknown)}
    for api in dict.fromkeys(part.api.partition(" ")[0] for part in missing.values() if part.off):
        yield KINDS["api-off"].of(
            Subject("api", api),
            f"the API {api} is switched off",
            f"gcloud services enable {api} --project={picture.project}",
        )
    for what, part in missing.items():
        if part.off:
            continue
        who = f" as {part.identity}" if part.identity else ""
        sentence = f"{what} can't be read: {f'{part.api}{who}: ' if part.api else ''}{part.why}"
        if part.role.startswith("roles/"):
            fix, means = f"ask for {part.role} on {part.on or f'project {picture.project}'}", ""
        elif part.advice:
            fix, means = part.advice, ""
        else:
            fix = f"slipway doctor{f' --stack {picture.stack}' if picture.document else picture.of_catalog}"
            means = f"again; it needs {part.role}" if part.role else "again"
        yield KINDS["unread" if what in vital else "unread-part"].of(Subject(what), sentence, fix, means)
