"""The live resources during a review: clusters as deployed, jobs as submitted, limits of quota."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from slipway.deploying.deployment.plan import Plan
from slipway.google.catalog.document import published, write
from slipway.google.catalog.lookup import find_kind, find_template, named, standing
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob, last_ends
from slipway.google.live import Increase, Live, QuotaLimit
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.cluster import ClusterSpec
from slipway.model.kinds import JobKind
from slipway.model.labels import CODE_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.using.submission.parameters import resolve
from slipway.using.submission.request import fill
from tests.review.case import Job, World

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
PLENTY = 100_000
METRIC = "custom_model_training_"


def submitted(job: Job, catalog: Catalog) -> VertexJob:
    """Return a job as the service has it, after the request that `slipway submit` fills."""
    template = find_template(catalog, job.template)
    kind = find_kind(template, job.kind or None)
    values = resolve(template, {name: str(value) for name, value in job.parameters.items()})
    offers = named(template, standing(template, kind, values), job.capacity_type)
    sent = NOW - timedelta(hours=job.hours)
    body = fill(catalog, template, offers[0], values, request_id=job.name, user=job.user, sent=sent)
    since = sent.isoformat()
    # None runs for longer than it may.
    end = (sent + min(timedelta(hours=job.hours / 2), timedelta(seconds=timeout_of(offers[0])))).isoformat()
    lived: dict[str, Any] = {
        "name": f"projects/1/locations/{catalog.region_of(offers[0].cluster)}/{kind.collection}/{job.name}",
        "displayName": job.name,
        "labels": {**body["labels"], **({CODE_LABEL: "89abcde"} if job.code else {})},
        "state": _state(job.state, kind),
        "createTime": since,
        **({} if job.state in ("PENDING", "QUEUED") else {"startTime": since}),
        **({"endTime": end} if job.state in ("SUCCEEDED", "FAILED", "CANCELLED") else {}),
    }
    return VertexJob.read({**body, **lived}, kind)


def timeout_of(offer: Offer) -> float:
    """Return the seconds after which the service ends a job; a week by default."""
    text = str(offer.spec.get("scheduling", {}).get("timeout") or "604800s")
    return float(text.removesuffix("s"))


def _state(state: str, kind: JobKind) -> str:
    return f"PIPELINE_STATE_{state}" if kind.name == "training-pipeline" else f"JOB_STATE_{state}"


def alive(plan: Plan, catalog: Catalog, jobs: Iterable[VertexJob]) -> list[PersistentResource]:
    """Return the clusters that a plan declares, busy with these jobs."""
    used: Counter[tuple[str, str]] = Counter()
    for job in jobs:
        cluster = catalog.cluster_named(job.persistent_resource_id)
        if cluster is None or job.state != "JOB_STATE_RUNNING":
            continue
        for group in job.machines:
            pool = next(action.name for action in cluster.pools if action.machine == group.machine)
            used[cluster.id, pool] += group.count
    return [
        PersistentResource(
            f"projects/1/locations/{item.spec.region}/persistentResources/{item.id}" if item.spec.region else item.id,
            "RUNNING",
            item.marked(catalog.stack).labels,
            tuple(
                ResourcePool(
                    pool.name,
                    pool.machine,
                    min(max(pool.min, used[item.id, pool.name]), pool.max),
                    used[item.id, pool.name],
                    pool.min if pool.autoscaled else None,
                    pool.max if pool.autoscaled else None,
                )
                for pool in item.spec.pools
            ),
            create_time=NOW - timedelta(days=9),
        )
        for item in plan.current
        if not item.spec.adopted
    ]


def theirs(world: World) -> list[PersistentResource]:
    """Return the clusters that no stack made."""
    pool = ResourcePool("workers", MachineSpec("n1-standard-8"), 1, 0, 1, 4)
    made = PersistentResource("", "RUNNING", {"team": "a"}, (pool,), settings=ClusterSpec("", ()))
    return [replace(made, name=id_) for id_ in world.theirs]


def since_then(clusters: Iterable[PersistentResource], catalog: Catalog, world: World) -> Iterator[PersistentResource]:
    """Yield the clusters as they are some time after the deployment."""
    names = {cluster.id: name for name, cluster in catalog.clusters.items()}
    for cluster in clusters:
        name = names.get(cluster.id, "")
        if name not in world.gone:
            yield replace(cluster, state=world.states.get(name, cluster.state))


def limits(metrics: Iterable[str], region: str, world: World) -> Mapping[str, QuotaLimit]:
    given = {f"{METRIC}{name}": limit for name, limit in world.limits.items()}
    chances = {f"{METRIC}{name}": Increase(word) for name, word in world.increase.items()}
    return {
        metric: QuotaLimit(metric, region, given.get(metric, PLENTY), chances.get(metric, Increase.POSSIBLE))
        for metric in metrics
    }


def live(
    clusters: Iterable[PersistentResource], jobs: Sequence[VertexJob], catalog: Catalog, of: Mapping[str, QuotaLimit]
) -> Live:
    source = f"gs://{catalog.catalog_bucket}/catalog.json"
    return Live(
        clusters=tuple(clusters),
        jobs=tuple(job for job in jobs if not job.ended),
        last_ends=last_ends(jobs),
        limits=of,
        catalog=published(write(catalog), source),
        buckets=frozenset({catalog.catalog_bucket, catalog.work_bucket}),
        service_accounts=MappingProxyType(
            dict.fromkeys((catalog.trainer, *catalog.trainers.values()), f"Slipway trainer ({catalog.stack})")
        ),
    )
