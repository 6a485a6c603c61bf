"""What could not be read, which is a finding of its own, and the roles that whoever asks does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slipway.catalog.model import Catalog
from slipway.cloud.failures import NotFound
from slipway.cloud.permissions import Holder, Permissions
from slipway.doctor.picture import Gap, Picture
from slipway.doctor.place import Place
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.kinds import CUSTOM_JOB
from slipway.live import Unknown


@dataclass(frozen=True)
class Need:
    """One permission that stands for a role, and the commands that need it."""

    on: str
    permission: str
    role: str
    verbs: str


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
"""As docs/cli.md has them, under "What each verb needs"."""


def gaps(permissions: Permissions, place: Place, catalog: Catalog | None) -> tuple[Gap, ...]:
    """Ask each service what it would permit. Raises CloudError. What only a catalog names is asked of one that could be
    read; what is not there is told elsewhere."""
    holders: dict[str, tuple[Holder, str]] = {
        "project": ("project", place.project),
        "catalog": ("bucket", place.address.bucket),
    }
    if catalog is not None:
        holders |= {"work": ("bucket", catalog.work_bucket), "trainer": ("account", catalog.trainer)}
    found: list[Gap] = []
    for key, (what, name) in holders.items():
        needs = [one for one in NEEDS if one.on == key and name]
        try:
            held = permissions.held(what, name, [one.permission for one in needs]) if needs else ()
        except NotFound:
            continue
        on = {"project": f"project {name}", "bucket": f"gs://{name}"}.get(what, name)
        found += [Gap(one.role, on, one.verbs) for one in needs if one.permission not in held]
    return tuple(found)


def roles(picture: Picture) -> Iterator[Finding]:
    for gap in () if isinstance(picture.gaps, Unknown) else picture.gaps:
        words = f"you don't have {gap.role} on {gap.on}, which {gap.verbs} needs"
        yield KINDS["role-missing"].of(Subject("role", gap.role, gap.on), words, f"ask for {gap.role} on {gap.on}")


def unread(picture: Picture) -> Iterator[Finding]:
    """One finding for each part: API, identity, reason and role; one for an API that is switched off."""
    backend = picture.backend
    vital = {
        "clusters": picture.clusters,
        "unfinished jobs": picture.jobs,
        "the catalog": picture.published,
        "the state": backend.state if backend and not backend.damage else None,
    }
    others = {
        "the jobs of the last 30 days, so idle pools": picture.recent,
        "quota": picture.quota,
        "the locks of the state": backend.locks if backend else (),
        "what jobs use of their machines": picture.use,
        "packages": picture.packages,
        "whether you have the roles that commands need": picture.gaps,
    }
    missing = {what: part for what, part in (vital | others).items() if isinstance(part, Unknown)}
    for api in dict.fromkeys(part.api.partition(" ")[0] for part in missing.values() if part.off):
        words, mend = f"the API {api} is switched off", f"gcloud services enable {api} --project={picture.project}"
        yield KINDS["api-off"].of(Subject("api", api), words, mend)
    for what, part in missing.items():
        if not part.off:
            yield _unread(what, part, "unread" if what in vital else "unread-part", picture)


def _unread(what: str, part: Unknown, kind: str, picture: Picture) -> Finding:
    who = f" as {part.identity}" if part.identity else ""
    words = f"{what} can't be read: {f'{part.api}{who}: ' if part.api else ''}{part.why}"
    if part.role.startswith("roles/"):
        mend, means = f"ask for {part.role} on {part.on or f'project {picture.project}'}", ""
    else:
        mend, means = picture.doctor, f"again; it needs {part.role}" if part.role else "again"
    return KINDS[kind].of(Subject(what), words, mend, means)
