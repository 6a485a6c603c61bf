"""Which roles whoever asks lacks, by what commands need: each service tells what it would permit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from slipway.catalog.model import Catalog
from slipway.cloud.failures import NotFound
from slipway.cloud.permissions import Permissions
from slipway.doctor.picture import Gap
from slipway.kinds import CUSTOM_JOB


@dataclass(frozen=True)
class Need:
    """One permission that stands for a role, and the commands that need it."""

    on: Literal["project", "catalog", "work", "trainer"]
    permission: str
    role: str
    verbs: str


NEEDS = (
    Need("catalog", "storage.objects.get", "roles/storage.objectViewer", "every command"),
    Need(
        "project",
        f"aiplatform.{CUSTOM_JOB.collection}.list",
        "roles/aiplatform.viewer",
        "slipway jobs, pools and schedule",
    ),
    Need(
        "project",
        f"aiplatform.{CUSTOM_JOB.collection}.create",
        "roles/aiplatform.user",
        "slipway submit and jobs cancel",
    ),
    Need("trainer", "iam.serviceAccounts.actAs", "roles/iam.serviceAccountUser", "slipway submit"),
    Need("project", "logging.logEntries.list", "roles/logging.viewer", "slipway jobs logs and --follow"),
    Need("project", "monitoring.timeSeries.list", "roles/monitoring.viewer", "the use of machines in jobs show"),
    Need("project", "cloudquotas.quotas.get", "roles/cloudquotas.viewer", "slipway quota"),
    Need("work", "storage.objects.get", "roles/storage.objectViewer", "slipway jobs download"),
    Need("work", "storage.objects.create", "roles/storage.objectCreator", "--code, --wait-for and a request id"),
)
"""As docs/cli.md has them, under "What each verb needs"."""


def gaps(permissions: Permissions, project: str, bucket: str, catalog: Catalog | None) -> tuple[Gap, ...]:
    """Raises CloudError. What only a catalog names is asked of one that could be read, and what is not there passed
    over: that is told elsewhere."""
    return tuple(_gaps(permissions, project, bucket, catalog))


def _gaps(permissions: Permissions, project: str, bucket: str, catalog: Catalog | None) -> Iterator[Gap]:
    places = {"project": project, "catalog": bucket}
    if catalog is not None:
        places |= {"work": catalog.work_bucket, "trainer": catalog.trainer}
    for place, name in places.items():
        needs = [one for one in NEEDS if one.on == place and name]
        if not needs:
            continue
        wanted = [one.permission for one in needs]
        try:
            if place == "project":
                held, on = permissions.on_project(name, wanted), f"project {name}"
            elif place == "trainer":
                held, on = permissions.on_account(project, name, wanted), name
            else:
                held, on = permissions.on_bucket(name, wanted), f"gs://{name}"
        except NotFound:
            continue
        yield from (Gap(one.role, on, one.verbs) for one in needs if one.permission not in held)
