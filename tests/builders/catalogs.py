"""Catalogs, with their templates, offers and requests."""

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.model.capacity import CAPACITY_TYPES, POOL
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import CAPACITY_TYPE_LABEL, STACK_LABEL, TEMPLATE_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import hourly

from .clusters import cluster
from .place import CATALOG_BUCKET, PROJECT, REGION, STACK, TRAINER, WORK_BUCKET
from .pools import CPU


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
    image = "us-docker.pkg.dev/vertex-ai/training/executor:1"
    task |= {"executorImageUri": image, "pythonModule": "train", "packageUris": [package or "${slipway.package}"]}
    return {**body, "pythonPackageSpec": task}


def request(
    *pools: Mapping[str, Any], template: str = "lora", capacity_type: str = POOL, **spec: Any
) -> dict[str, Any]:
    """Return the body of a custom job; `spec` are keys of its CustomJobSpec."""
    strategy = CAPACITY_TYPES[capacity_type].strategy
    scheduling = {"timeout": "86400s", **({"strategy": strategy} if strategy else {})}
    job_spec: dict[str, Any] = {"serviceAccount": TRAINER, "scheduling": scheduling, "workerPoolSpecs": list(pools)}
    if capacity_type == POOL:
        job_spec["persistentResourceId"] = "cpu-1a2b3c4"
    job_spec |= spec
    labels = {TEMPLATE_LABEL: template, STACK_LABEL: STACK, CAPACITY_TYPE_LABEL: capacity_type}
    return {"displayName": "${slipway.job}", "jobSpec": job_spec, "labels": labels}


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
    clusters = [part for part in parts if isinstance(part, Cluster)]
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
        "clusters": {entry.name: entry for entry in clusters or (cluster(),)},
        "templates": {part.name: part for part in parts if isinstance(part, Template)},
    }
    return Catalog(**{**usual, **fields})
