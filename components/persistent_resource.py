"""PersistentResource: one generation of a cluster. The provider never updates or replaces it; it comes and it goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from components.creation import Creation
from components.gcp import vertex
from slipway.cluster import PROTECT, CurrentCluster
from slipway.generations.action import Action

TYPE, REGIONS = "slipway:components:PersistentResource", "slipway:components:OtherRegions"
# A GPU cluster may take its time; the provider gives up after 20 minutes unless told otherwise.
_TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# The autoscaler moves the counts. Labels and name can't be changed in the API, yet the provider would try.
_MOVES = ["resourcePools[*].replicaCount", "labels", "displayName"]


class PersistentResource(pulumi.ComponentResource):
    """A current cluster, on `gcp.vertex.AiPersistentResource`, with every default made explicit.

    Its logical name is its id, so another id is another resource and never a replacement.
    """

    resource: vertex.AiPersistentResource

    def __init__(
        self,
        current: CurrentCluster,
        *,
        project: str,
        region: str,
        facts: Mapping[str, Any],
        hooks: pulumi.ResourceHookBinding | None = None,
        creation: Creation | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """A cluster that exists (`current.import_`) is taken as it is; `hooks` guard its deletion. `region` is the
        stack's.

        One that does not is made by `creation`; without that, or where its hook is not called, by the provider.
        """
        spec, id = current.spec, current.id
        super().__init__(TYPE, id, dict(facts), opts)
        location = spec.region or region
        full = resource_id(project, location, id)
        # One body for the hook and the provider: else it would plan to replace what it takes over.
        body = current.request(pulumi.get_stack())
        inputs = {re.sub(r"(?=[A-Z])", "_", key).lower(): value for key, value in body.items()}
        options = pulumi.ResourceOptions(import_=full if current.import_ else None, ignore_changes=_MOVES, hooks=hooks)
        if creation and not current.import_:
            options = pulumi.ResourceOptions.merge(options, creation.taken_over(id, full))
        self.resource = _declared(self, full, options, deletion_policy=spec.deletion_policy, **inputs)
        # The state tells it where the published catalog is lost.
        kept = {"protected": spec.name} if spec.replacement == PROTECT else {}
        self.register_outputs({"id": self.resource.name, **kept, **_elsewhere(location, region)})


class RetiringResource(pulumi.ComponentResource):
    """A cluster of an earlier generation that still has work. Kept exactly as it is until a later deployment drops it.

    The same type and name as when it was current, so that the state knows it again.
    """

    def __init__(
        self,
        retiring: Action,
        *,
        project: str,
        region: str,
        facts: Mapping[str, Any],
        hooks: pulumi.ResourceHookBinding | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        cluster = retiring.living
        assert cluster, "what retires lives"
        location = cluster.region or region
        pools: list[Any] = [pool.request() for pool in cluster.spec.pools]
        super().__init__(TYPE, cluster.id, dict(facts), opts)
        full = resource_id(project, location, cluster.id)
        options = pulumi.ResourceOptions(import_=full, ignore_changes=["*"], hooks=hooks)
        self.resource = _declared(self, full, options, resource_pools=pools)
        self.register_outputs({"id": self.resource.name, **_elsewhere(location, region)})


class AdoptedResource(pulumi.ComponentResource):
    """A cluster that somebody else made: facts, no resource of a cloud. So the engine can't change or delete it, and
    a destruction, a rename or a lost state leaves it alone.

    The provider's import would do less: it keeps the fields as inputs, against which each version of it may plan a
    replacement, and only options of the program stand before a deletion, which the same pull request may edit.
    """

    id: str

    def __init__(self, id: str, *, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, id, dict(facts), opts)
        self.id = id
        self.register_outputs({"id": id, "adopted": True})


class OtherRegions(pulumi.ComponentResource):
    """Regions besides its own where clusters of the stack are, or may come to be: told to the state before any is asked
    for there. So one is found that a killed deployment asked for, when the stack file names its region no more."""

    def __init__(self, regions: Iterable[str]) -> None:
        facts = {"regions": sorted(regions)}
        super().__init__(REGIONS, "other-regions", facts)
        self.register_outputs(facts)


def resource_id(project: str, region: str, id: str) -> str:
    """The provider's id of a cluster."""
    return f"projects/{project}/locations/{region}/persistentResources/{id}"


def _declared(
    parent: pulumi.Resource, full: str, options: pulumi.ResourceOptions, **inputs: Any
) -> vertex.AiPersistentResource:
    _, project, _, location, _, id = full.split("/")
    every = pulumi.ResourceOptions(parent=parent, custom_timeouts=_TIMEOUTS)
    merged = pulumi.ResourceOptions.merge(every, options)
    return vertex.AiPersistentResource(id, name=id, project=project, location=location, opts=merged, **inputs)


def _elsewhere(location: str, region: str) -> dict[str, str]:
    """Outputs that tell the state that the cluster is not in its stack's region, which is no move of the stack."""
    return {"region": location} if location != region else {}
