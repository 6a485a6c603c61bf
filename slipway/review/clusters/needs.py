"""What jobs need beside their cluster, by the types of resources that the engine may take away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from slipway.catalog.model import Catalog
from slipway.cloud.jobs import VertexJob
from slipway.labels import TEMPLATE_LABEL
from slipway.review.change import Change
from slipway.review.preview import Resource
from slipway.review.usual import job_spec

PACKAGE, VERSION = "gcp:storage/bucketObject:", "gcp:secretmanager/secretVersion:"
_REFERENCE = "__SECRET="


@dataclass(frozen=True)
class Needed:
    """A type of resource. `kind` is the consequence of losing it, `what` its word. `name`: what jobs know it by;
    `by`: whether a job needs the one of that name."""

    type: str
    kind: str
    what: str
    name: Callable[[Resource, Change], str]
    by: Callable[[VertexJob, str, Change], bool]


@dataclass(frozen=True)
class Granted:
    """A type of a role's grant, and `binding`, that of one which sets the role's members altogether. `key` is the input
    that says on what, empty for the project. `usual`: the role by which jobs have what they need, empty where none is.
    """

    type: str
    binding: str
    kind: str
    what: str
    key: str
    usual: str
    by: Callable[[VertexJob, str], bool]


def reservations(catalog: Catalog) -> frozenset[str]:
    """Full paths of those that some offer names."""
    return frozenset(
        str(path)
        for template in catalog.templates.values()
        for offer in template.offers
        for pool in job_spec(offer).get("workerPoolSpecs", ())
        for path in pool.get("machineSpec", {}).get("reservationAffinity", {}).get("values", ())
    )


def uri(one: Resource) -> str:
    """Of an object in a bucket."""
    return f"gs://{one.inputs.get('bucket', '')}/{one.inputs.get('name', '')}"


def reads(job: VertexJob, secret: str) -> bool:
    """`secret` is its id or its full name."""
    return any(f"/secrets/{_last(secret)}/" in one for one in _secrets(job))


def _secrets(job: VertexJob) -> Iterator[str]:
    for pool in job.worker_pools:
        yield from (f"{one.partition('=')[2]}/" for one in pool.env if _REFERENCE in one)


def _networks(change: Change, job: VertexJob) -> Iterator[str]:
    """Of its cluster and of its template, as they are deployed: no list tells a job's own."""
    cluster = change.old.cluster_named(job.persistent_resource_id) if change.old else None
    if cluster:
        yield from (cluster.network, cluster.network_attachment, cluster.kms_key)
    template = change.old.templates.get(job.labels.get(TEMPLATE_LABEL, "")) if change.old else None
    for spec in (job_spec(one) for one in template.offers) if template else ():
        yield str(spec.get("network", ""))
        yield str(spec.get("pscInterfaceConfig", {}).get("networkAttachment", ""))


def _in_network(job: VertexJob, name: str, change: Change) -> bool:
    return any(_last(one) == name for one in _networks(change, job) if one)


def _project(one: Resource, change: Change) -> str:
    return str(one.inputs.get("project") or (change.old.project if change.old else ""))


def _account(one: Resource, change: Change) -> str:
    made = f"{one.inputs.get('accountId', '')}@{_project(one, change)}.iam.gserviceaccount.com"
    return str(one.outputs.get("email") or made)


def _images(one: Resource, change: Change) -> str:
    return f"{one.inputs.get('location')}-docker.pkg.dev/{_project(one, change)}/{one.inputs.get('repositoryId')}/"


def _name(one: Resource, change: Change) -> str:
    return str(one.inputs.get("name") or _last(one.id))


def _last(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


NEEDED = (
    Needed(
        "gcp:serviceaccount/account:",
        "jobs-lose-account",
        "account",
        _account,
        lambda job, name, _: job.service_account == name,
    ),
    Needed("gcp:storage/bucket:", "jobs-lose-bucket", "bucket", _name, lambda job, name, _: name in job.buckets),
    Needed(PACKAGE, "jobs-lose-package", "package", lambda one, _: uri(one), lambda job, name, _: name in job.packages),
    Needed(
        "gcp:secretmanager/secret:",
        "jobs-lose-secret",
        "secret",
        lambda one, _: str(one.inputs.get("secretId", "")),
        lambda job, name, _: reads(job, name),
    ),
    Needed(
        VERSION,
        "jobs-lose-secret",
        "secret",
        lambda one, _: str(one.inputs.get("secret", "")),
        lambda job, name, _: reads(job, name),
    ),
    Needed("gcp:compute/network:", "jobs-lose-network", "network", _name, _in_network),
    Needed("gcp:compute/networkAttachment:", "jobs-lose-network", "network attachment", _name, _in_network),
    Needed("gcp:kms/cryptoKey:", "jobs-lose-network", "key", _name, _in_network),
    Needed(
        "gcp:compute/reservation:",
        "jobs-lose-reservation",
        "reservation",
        _name,
        lambda job, name, _: any(_last(one) == name for one in job.reservations),
    ),
    Needed(
        "gcp:artifactregistry/repository:",
        "jobs-restart-differently",
        "images",
        _images,
        lambda job, name, _: any(pool.image.startswith(name) for pool in job.worker_pools),
    ),
)

GRANTED = (
    Granted(
        "gcp:projects/iAMMember:",
        "gcp:projects/iAMBinding:",
        "jobs-lose-account",
        "account",
        "",
        "",
        lambda job, on: True,
    ),
    Granted(
        "gcp:storage/bucketIAMMember:",
        "gcp:storage/bucketIAMBinding:",
        "jobs-lose-bucket",
        "bucket",
        "bucket",
        "roles/storage.objectUser",
        lambda job, on: on in job.buckets,
    ),
    Granted(
        "gcp:secretmanager/secretIamMember:",
        "gcp:secretmanager/secretIamBinding:",
        "jobs-lose-secret",
        "secret",
        "secretId",
        "roles/secretmanager.secretAccessor",
        reads,
    ),
)
