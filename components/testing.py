"""Living clusters, jobs and quota for a test of a program under Pulumi's mocks, in place of the cloud's answers.

Under mocks nothing is read, and without `living` nothing lives and quota is not limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pulumi

from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import Document
from slipway.google.clusters import PersistentResource as LivingCluster
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Live, QuotaLimit
from slipway.google.quotas import QuotaPreference
from slipway.model.cluster import CurrentCluster
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.identity import Identity
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State, StateResource

from .args import write
from .persistent_resource import PersistentResourceArgs
from .resolution import plain
from .world import CURRENT, World

PROJECT, REGION = "acme-dev", "us-central1"
"""The place of clusters for which a test names none."""


@dataclass(frozen=True)
class Job:
    """A job that has not ended."""

    #: Its name for people.
    name: str
    #: The id of the cluster that it runs on; empty for machines of its own.
    cluster: str = ""
    state: str = "JOB_STATE_RUNNING"


def cluster(
    name: str,
    args: PersistentResourceArgs,
    *,
    state: str = "RUNNING",
    workspace: str = "",
    project: str = PROJECT,
    region: str = REGION,
) -> LivingCluster:
    """Return the generation of a cluster that these arguments made. `workspace`: the name of the one that it belongs
    to, where there is one. Call it after `set_mocks`, whose stack made it.

    Raises StackErrors for arguments that no cluster can have, and ValueError for Outputs among them.
    """
    given = plain(args)
    if given.unknown:
        raise ValueError(f"an Output is among the arguments of {name}, and a living cluster has values")
    config: dict[str, Any] = {"gcp:addPulumiAttributionLabel": "false"}
    write(config, args, {**given.values, "project": project, "region": region}, ("slipway:persistentResources", name))
    identity = Identity(pulumi.get_project(), pulumi.get_stack(), workspace)
    owner = identity.label
    (spec,) = parse(Document("", {"config": config}), stack=pulumi.get_stack(), identity=identity).clusters
    fingerprint = fingerprint_of(owner, project, region, spec)
    current = CurrentCluster(spec, cluster_id(name, fingerprint), fingerprint, import_=True, state=state)
    place = f"projects/{project}/locations/{region}/persistentResources"
    return replace(LivingCluster.read({**current.request(owner), "name": f"{place}/{current.id}"}), state=state)


def _quota_id(metric: str) -> str:
    return f"{metric.replace('_', ' ').title().replace(' ', '')}PerProjectPerRegion"


@contextmanager
def living(
    *clusters: LivingCluster,
    jobs: Iterable[Job] = (),
    quota: Mapping[str, int] | None = None,
    requests: Iterable[QuotaPreference] = (),
) -> Iterator[None]:
    """Let these clusters live, of which the engine knows, and these jobs not have ended. `quota`: limits by metric,
    without the service's name; others are unlimited."""
    region = next((each.region or REGION for each in clusters), REGION)
    live = Live(
        clusters=clusters,
        jobs=tuple(VertexJob(job.name, job.name, job.state, {}, persistent_resource_id=job.cluster) for job in jobs),
        limits={
            metric: QuotaLimit(metric, region, limit, Increase.POSSIBLE, _quota_id(metric))
            for metric, limit in (quota or {}).items()
        },
        catalog=None,
        preferences={request.quota_id: request for request in requests},
    )
    known = (
        StateResource(each.id, each.id, "", each.region or region, stack=each.labels.get(STACK_LABEL, ""))
        for each in clusters
    )
    token = CURRENT.set(World(live, State(clusters=tuple(known))))
    try:
        yield
    finally:
        CURRENT.reset(token)
