"""What jobs need beside their cluster, and the types of resources that are such things."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.model import Catalog
from slipway.cloud.jobs import VertexJob
from slipway.labels import TEMPLATE_LABEL
from slipway.review.change import Change
from slipway.review.preview import Resource
from slipway.review.usual import job_spec, secret_in

ACCOUNT, BUCKET, SECRET, RESERVATION = (f"jobs-lose-{one}" for one in ("account", "bucket", "secret", "reservation"))
_LOST_PACKAGE, _NETWORK, _IMAGES = "jobs-lose-package", "jobs-lose-network", "jobs-restart-differently"
PACKAGE, VERSION = "gcp:storage/bucketObject:", "gcp:secretmanager/secretVersion:"
NEEDED = (
    ("gcp:serviceaccount/account:", ACCOUNT, "account"),
    ("gcp:storage/bucket:", BUCKET, "bucket"),
    (PACKAGE, _LOST_PACKAGE, "package"),
    ("gcp:secretmanager/secret:", SECRET, "secret"),
    (VERSION, SECRET, "secret"),
    ("gcp:compute/network:", _NETWORK, "network"),
    ("gcp:compute/networkAttachment:", _NETWORK, "network attachment"),
    ("gcp:kms/cryptoKey:", _NETWORK, "key"),
    ("gcp:compute/reservation:", RESERVATION, "reservation"),
    ("gcp:artifactregistry/repository:", _IMAGES, "images"),
)
"""Types, by their beginning; the kind of finding that says that jobs lose one; the word for it."""
GRANTED = {
    "": (ACCOUNT, "account", ""),
    "bucket": (BUCKET, "bucket", "roles/storage.objectUser"),
    "secret": (SECRET, "secret", "roles/secretmanager.secretAccessor"),
}
"""The same of roles, by what they are on (the project, where empty); and the role by which jobs usually get in."""


def users(change: Change, kind: str, name: str) -> tuple[VertexJob, ...]:
    """Unfinished jobs that need a thing; `kind` is the finding that says that it is lost."""
    known_as = _last(name) if kind == SECRET else name
    return tuple(job for job in change.jobs if name and known_as in _needs(job, kind, change))


def name_of(one: Resource, what: str, change: Change) -> str:
    """Return the name by which jobs know a resource; `what` is its word in `NEEDED`."""
    project = one.inputs.get("project") or (change.old.project if change.old else "")
    if what == "account":
        made = f"{one.inputs.get('accountId', '')}@{project}.iam.gserviceaccount.com"
        return str(one.outputs.get("email") or made)
    if what == "package":
        return f"gs://{one.inputs.get('bucket', '')}/{one.inputs.get('name', '')}"
    if what == "secret":
        return str(one.inputs.get("secretId") or one.inputs.get("secret", ""))
    if what == "images":
        return f"{one.inputs.get('location')}-docker.pkg.dev/{project}/{one.inputs.get('repositoryId')}/"
    return str(one.inputs.get("name") or _last(one.id))


def reservations(catalog: Catalog) -> frozenset[str]:
    """Full paths of those that some offer names."""
    return frozenset(
        str(path)
        for template in catalog.templates.values()
        for offer in template.offers
        for pool in job_spec(offer).get("workerPoolSpecs", ())
        for path in pool.get("machineSpec", {}).get("reservationAffinity", {}).get("values", ())
    )


def _needs(job: VertexJob, kind: str, change: Change) -> frozenset[str]:
    if kind == ACCOUNT:
        return frozenset({job.service_account})
    if kind == BUCKET:
        return job.buckets
    if kind == _LOST_PACKAGE:
        return frozenset(job.packages)
    if kind == SECRET:
        return frozenset(secret_in(one) for pool in job.worker_pools for one in pool.env if "__SECRET=" in one)
    if kind == RESERVATION:
        return frozenset((*job.reservations, *map(_last, job.reservations)))
    if kind == _IMAGES:
        return frozenset("/".join((*pool.image.split("/")[:3], "")) for pool in job.worker_pools)
    return frozenset(map(_last, _networks(job, change)))


def _networks(job: VertexJob, change: Change) -> Iterator[str]:
    """Networks, attachments and keys of its cluster and its template, as deployed: no list tells a job's own."""
    cluster = change.old.cluster_named(job.persistent_resource_id) if change.old else None
    if cluster:
        yield from (cluster.network, cluster.network_attachment, cluster.kms_key)
    template = change.old.templates.get(job.labels.get(TEMPLATE_LABEL, "")) if change.old else None
    for spec in (job_spec(one) for one in template.offers) if template else ():
        yield str(spec.get("network", ""))
        yield str(spec.get("pscInterfaceConfig", {}).get("networkAttachment", ""))


def _last(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
