"""Small parts of a change with sensible defaults, so that a test names only its subject.

A stack `prod` in `us-central1`. A cluster's id follows from its fields, as a real one's does: two that differ in more
than `replacement` and `retire_within` are two generations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from slipway.capacity import CAPACITY_TYPES, POOL
from slipway.catalog.clusters import Cluster, Pool
from slipway.catalog.model import Catalog, Offer, Parameter, Template
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob, WorkerPool
from slipway.cloud.quotas import QuotaPreference
from slipway.cluster import CurrentCluster
from slipway.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.facts import Facts, Kept, QuotaFacts, QuotaLine
from slipway.fingerprint import fingerprint_in
from slipway.generations.published_clusters import declared
from slipway.kinds import CUSTOM_JOB, JobKind
from slipway.labels import CAPACITY_TYPE_LABEL, STACK_LABEL, TEMPLATE_LABEL, USER_LABEL
from slipway.live import Increase, Live, QuotaLimit, Unknown
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import Price, hourly
from slipway.review.change import Change
from slipway.review.preview import EngineStep, Preview, Resource

STACK, PROJECT, REGION = "prod", "acme-prod", "us-central1"
TEAM = "group:ml@acme.example"
TRAINER = f"trainer@{PROJECT}.iam.gserviceaccount.com"
CATALOG_BUCKET, WORK_BUCKET = "acme-catalog", "acme-work"
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CPU = MachineSpec("n1-standard-8")
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))
UNREAD = Unknown("denied", "aiplatform.googleapis.com", "roles/aiplatform.viewer")


def pool(
    name: str = "workers", machine: MachineSpec = CPU, low: int = 1, high: int | None = 4, *, price: Price | None = None
) -> Pool:
    """Return a pool. `high` None: a pool of a fixed size, which is `low`. `price`: of a machine, by default the
    book's."""
    return Pool(
        name=name,
        machine=machine,
        min=low,
        max=low if high is None else high,
        autoscaled=high is not None,
        price_per_hour=price or hourly(machine, REGION),
    )


def cluster(name: str = "cpu", *pools: Pool, id: str = "", **fields: Any) -> Cluster:
    """Return a cluster; `fields` are the catalog's."""
    by_name = {one.name: one for one in pools or (pool(),)}
    made = Cluster(name=name, id="none", pools=by_name, display_name=fields.pop("display_name", name), **fields)
    of_generation = repr(replace(made, replacement="", retire_within=None, create_within=None))
    # The guides show these ids: a later field counts where it is set.
    of_generation = of_generation.replace(", create_within=None", "").replace(
        ", region=None, alternative_regions=None", ""
    )
    of_generation = of_generation.replace(", alternatives=None, alternative=None, adopted=None", "")
    of_generation = of_generation.replace(", at_most=False", "")
    return replace(made, id=id or f"{name}-{hashlib.sha256(of_generation.encode()).hexdigest()[:7]}")


def worker_pool(
    machine: MachineSpec = CPU,
    replicas: int | str = 1,
    *,
    image: str = "",
    package: str = "",
    args: Iterable[str] = (),
    env: Mapping[str, str] | None = None,
    reservation: str = "",
) -> dict[str, Any]:
    """Return a `workerPoolSpecs` entry as a catalog's request has it; without an image it is a package's."""
    body: dict[str, Any] = {**machine.request(), "replicaCount": str(replicas)}
    if reservation:
        key = "compute.googleapis.com/reservation-name"
        affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": key, "values": [reservation]}
        body["machineSpec"] = {**body["machineSpec"], "reservationAffinity": affinity}
    listed = [{"name": name, "value": value} for name, value in (env or {}).items()]
    task: dict[str, Any] = {"args": list(args), **({"env": listed} if listed else {})}
    if image:
        return {**body, "containerSpec": {"imageUri": image, **task}}
    task |= {"executorImageUri": "executor:1", "pythonModule": "train", "packageUris": [package or "${package}"]}
    return {**body, "pythonPackageSpec": task}


def request(
    *pools: Mapping[str, Any], template: str = "lora", capacity_type: str = POOL, **spec: Any
) -> dict[str, Any]:
    """Return the body of a custom job; `spec` are keys of its CustomJobSpec."""
    strategy = CAPACITY_TYPES[capacity_type].strategy
    scheduling = {"timeout": "86400s", **({"strategy": strategy} if strategy else {})}
    job_spec = {"serviceAccount": TRAINER, "scheduling": scheduling, "workerPoolSpecs": list(pools), **spec}
    labels = {TEMPLATE_LABEL: template, STACK_LABEL: STACK, CAPACITY_TYPE_LABEL: capacity_type}
    return {"displayName": "${job}", "jobSpec": job_spec, "labels": labels}


def offer(
    capacity_type: str = POOL,
    *,
    cluster: str = "cpu",
    pools: tuple[str, ...] = ("workers",),
    machine: MachineSpec = CPU,
    replicas: int = 1,
    **fields: Any,
) -> Offer:
    """Return an offer; `fields` are the catalog's; the default `request` is for so many of the machine."""
    on_pool = capacity_type == POOL
    usual: dict[str, Any] = {
        "available": True,
        "why": "",
        "price_per_hour": hourly(machine, REGION, capacity_type) * replicas,
        "request": request(worker_pool(machine, replicas), capacity_type=capacity_type),
        "roles": ("worker",),
    }
    place: dict[str, Any] = {"cluster": cluster if on_pool else "", "pools": pools if on_pool else ()}
    return Offer(capacity_type=capacity_type, **{**place, **usual, **fields})


def template(name: str = "lora", *offers: Offer, parameters: Iterable[Parameter] = (), **fields: Any) -> Template:
    usual: dict[str, Any] = {"package": f"gs://{CATALOG_BUCKET}/packages/{name}/0123456.tar.gz"}
    return Template(
        name=name,
        summary=f"trains {name}",
        kind=CUSTOM_JOB.name,
        roles=("worker",),
        parameters=tuple(parameters),
        offers=offers or (offer(),),
        **({} if "image" in fields else usual),
        **fields,
    )


def catalog(*parts: Cluster | Template, **fields: Any) -> Catalog:
    """Return a catalog of clusters and templates in any order; of one small cluster where none is named."""
    clusters = [one for one in parts if isinstance(one, Cluster)]
    usual: dict[str, Any] = {
        "stack": STACK,
        "project": PROJECT,
        "region": REGION,
        "commit": "3f9c2e1",
        "dirty": False,
        "work_bucket": WORK_BUCKET,
        "trainer": TRAINER,
        "retiring": (),
        "catalog_bucket": CATALOG_BUCKET,
        "clusters": {one.name: one for one in clusters or (cluster(),)},
        "templates": {one.name: one for one in parts if isinstance(one, Template)},
    }
    return Catalog(**{**usual, **fields})


def quota(*lines: QuotaLine, mode: str = "enforce", strict: bool = False) -> QuotaFacts:
    return QuotaFacts(REGION, mode, strict, {one.key: one for one in lines})


def facts(
    *parts: Cluster | Template | Kept,
    members: Iterable[str] = (TEAM,),
    code: bool = False,
    quota: QuotaFacts | None = None,
    grades: Mapping[str, str] | None = None,
    **fields: Any,
) -> Facts:
    """Return facts; `fields` are the catalog's."""
    kept = {one.id: one for one in parts if isinstance(one, Kept)}
    fields.setdefault("retiring", tuple(one.id for one in kept.values() if one.kind == "cluster"))
    return Facts(
        catalog=catalog(*(one for one in parts if not isinstance(one, Kept)), **fields),
        submitters={member: dict(SUBMITTER_ROLES) for member in members},
        code=code,
        quota=quota or QuotaFacts(REGION, "enforce", strict=False),
        kept=kept,
        policy={"grades": grades} if grades else {},
    )


def kept(what: Cluster | str, *jobs: VertexJob, why: str = "", role: str = "", overdue: bool = False) -> Kept:
    """Return a cluster, or by its name a bucket (an account, where that is an address), that is no longer declared."""
    reason = why or ("jobs" if jobs else "unpublished")
    named = {job.name: job.display_name for job in jobs}
    if isinstance(what, Cluster):
        return Kept(what.id, "cluster", what.name, reason, named, overdue)
    kind = "account" if "@" in what else "bucket"
    return Kept(what, kind, role or ("trainer" if kind == "account" else "work"), reason, named, overdue)


def job(
    name: str = "tune-27b-x1",
    *,
    on: Cluster | None = None,
    template: str = "lora",
    user: str = "user-a",
    state: str = "RUNNING",
    minutes: float = 192,
    machine: MachineSpec = CPU,
    replicas: int = 1,
    kind: JobKind = CUSTOM_JOB,
    env: Mapping[str, str] | None = None,
    packages: tuple[str, ...] = (),
    reservations: tuple[str, ...] = (),
    **fields: Any,
) -> VertexJob:
    """Return a job. `minutes`: since its creation, and since its start where it runs. `fields` are the job's own."""
    since = NOW - timedelta(minutes=minutes)
    listed = tuple(f"{key}={value}" for key, value in (env or {}).items())
    labels = {STACK_LABEL: STACK, TEMPLATE_LABEL: template, USER_LABEL: user}
    usual: dict[str, Any] = {
        "labels": {key: value for key, value in labels.items() if value},
        "worker_pools": (
            WorkerPool(machine, replicas, image="executor:1", packages=packages, env=listed, reservations=reservations),
        ),
        "persistent_resource_id": on.id if on else "",
        "service_account": TRAINER,
        "create_time": since,
        "start_time": since if state == "RUNNING" else None,
        "buckets": frozenset({WORK_BUCKET}),
        "kind": kind,
    }
    return VertexJob(f"projects/1/jobs/{name}", name, f"JOB_STATE_{state}", **{**usual, **fields})


def asked_for(of: Cluster, **inputs: Any) -> dict[str, Any]:
    """Return the engine's request; `inputs` differ from the program's."""
    made = CurrentCluster(declared(of), of.id, fingerprint_in(of.id, of.name), import_=False).request(STACK)
    return {"name": of.id, "project": PROJECT, "location": of.region or REGION, **made, **inputs}


def living(of: Cluster, *, used: int = 0, state: str = "RUNNING", replicas: int | None = None) -> PersistentResource:
    """Return the cluster in the cloud, with `used` machines busy in each pool, and as many up as its pools keep at
    least."""
    made = PersistentResource.read(asked_for(of))
    pools = (
        replace(pool, replicas=max(pool.floor, used) if replicas is None else replicas, used=used)
        for pool in made.pools
    )
    return replace(made, state=state, pools=tuple(pools), create_time=NOW - timedelta(days=9))


def limits(by_metric: Mapping[str, int], increase: Increase = Increase.POSSIBLE) -> Mapping[str, QuotaLimit]:
    return {metric: QuotaLimit(metric, REGION, limit, increase) for metric, limit in by_metric.items()}


def step(
    op: str,
    type: str,
    name: str,
    *,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    id: str = "",
    parent: str = "",
    diffs: Iterable[str] = (),
    replaces: Iterable[str] = (),
    retained: bool = False,
) -> EngineStep:
    """Return a step. `old` and `new` are inputs. `id` and `retained` are the old resource's."""
    urn = f"urn:pulumi:{STACK}::slipway::{type}::{name}"
    before = None if old is None else Resource(old, {}, id, retained)
    after = None if new is None else Resource(new)
    return EngineStep(op, urn, type, name, parent, before, after, tuple(diffs), tuple(replaces))


def change(
    before: Facts | None,
    after: Facts | None,
    *,
    clusters: Iterable[PersistentResource] | Unknown = (),
    jobs: Iterable[VertexJob] | Unknown = (),
    limits: Mapping[str, QuotaLimit] | Unknown | None = None,
    steps: Iterable[EngineStep] | None = None,
    preferences: Mapping[str, QuotaPreference] | Unknown | None = None,
    **fields: Any,
) -> Change:
    """Return a change. `steps` are the engine's; None where it was not asked. `fields` are the change's own."""
    live = Live(
        clusters=clusters if isinstance(clusters, Unknown) else tuple(clusters),
        jobs=jobs if isinstance(jobs, Unknown) else tuple(jobs),
        limits={} if limits is None else limits,
        catalog=None,
        preferences={} if preferences is None else preferences,
    )
    preview = None if steps is None else Preview(tuple(steps))
    return Change(STACK, before, after, live, NOW, **{"preview": preview, **fields})


def priced(known: str, *, complete: bool = True) -> Price:
    return Price(Decimal(known), complete)
