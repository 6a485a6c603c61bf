"""Generations of clusters, which come and go: none is ever updated or replaced by the provider."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from slipway.google.clusters import PersistentResource
from slipway.model.cluster import PROTECT, CurrentCluster
from slipway.model.state import GENERATION, REGIONS

from .creation import Creation
from .gcp import vertex
from .transforms import TransformCheck

# A GPU cluster may take a long time; the provider's default time-out is 20 minutes.
_TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# The autoscaler moves the counts. Labels and name can't be changed in the API, yet the provider would try; and for
# another label of its own it would replace the cluster.
_MOVES = ["resourcePools[*].replicaCount", "labels", "effectiveLabels", "pulumiLabels", "displayName"]


@dataclass(frozen=True)
class Surroundings:
    """The common arguments of a stack's generations."""

    project: str
    #: The stack's region; a cluster may have one of its own.
    region: str
    #: Asked before a deletion. Without any a cluster is deleted whoever uses it.
    hooks: pulumi.ResourceHookBinding | None = None
    opts: pulumi.ResourceOptions | None = None
    #: The options of a cluster that the engine knows; None for another one, which is imported if it exists.
    kept: pulumi.ResourceOptions | None = None
    #: The stack in the clusters' labels, where a program may have several.
    stack: str = ""
    #: Rejects changes of clusters by transforms of the program.
    transforms: TransformCheck = field(default_factory=TransformCheck)
    #: Receives the URNs of the clusters that are registered, by id.
    registered: dict[str, pulumi.Output[str]] = field(default_factory=dict)


class Generation(pulumi.ComponentResource):
    """A cluster by its id: what a preview shows of it, and the cloud's resource.

    It has the same type and name all its life, so that the state knows it again when it retires. An adopted cluster has
    no resource of a cloud: so the engine can't change or delete it, and a destruction, a rename or a lost state leaves
    it alone. The provider's import would protect it less: it keeps the fields as inputs, against which each version of
    it may plan a replacement, and only options of the program, which the same pull request may edit, prevent a
    deletion.
    """

    def __init__(
        self,
        id: str,
        facts: Mapping[str, Any],
        outputs: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None,
        cloud: Mapping[str, Any] | None = None,
        cloud_opts: pulumi.ResourceOptions | None = None,
        transforms: TransformCheck | None = None,
    ) -> None:
        """Declare a cluster. `cloud`: the inputs of its resource, with `cloud_opts`; `transforms` checks them."""
        super().__init__(GENERATION, id, dict(facts), opts)
        self.title = getattr(opts and opts.parent, "title", f"cluster {id}")
        if transforms:
            transforms.watch_children(self)
        self.id: pulumi.Input[str] = id
        self.cloud_urn: pulumi.Output[str] | None = None
        if cloud is not None:
            # What a parent retains would run on: each generation goes when it is idle.
            every = pulumi.ResourceOptions(parent=self, custom_timeouts=_TIMEOUTS, retain_on_delete=False)
            made = pulumi.ResourceOptions.merge(every, cloud_opts)
            resource = vertex.AiPersistentResource(id, name=id, opts=made, **cloud)
            self.id, self.cloud_urn = resource.name, resource.urn
        self.register_outputs({"id": self.id, **outputs})


def current(
    cluster: CurrentCluster,
    stack: str,
    facts: Mapping[str, Any],
    around: Surroundings,
    creation: Creation | None = None,
) -> Generation:
    """Declare the cluster of a name from now on, with every default made explicit. `creation` makes it; without that,
    or where its hook is not called, the provider does."""
    if cluster.spec.adopted:
        return Generation(cluster.id, facts, {"adopted": True}, around.opts)
    spec = cluster.marked(stack)
    full, place, outputs = _place(cluster.id, spec.region, around)
    options = _options(full if cluster.import_ else "", _MOVES, around)
    if creation and not cluster.import_:
        options = pulumi.ResourceOptions.merge(options, creation.taken_over(cluster.id, full))
    # One body for the hook and the provider: otherwise it would plan to replace the imported cluster.
    inputs = {re.sub(r"(?=[A-Z])", "_", key).lower(): value for key, value in spec.request().items()}
    # The state tells it where the published catalog is lost.
    kept = {"protected": spec.name} if spec.replacement == PROTECT else {}
    inputs = {**place, "deletion_policy": spec.deletion_policy, **inputs}
    generation = Generation(cluster.id, facts, {**kept, **outputs}, around.opts, inputs, options, around.transforms)
    return _registered(generation, cluster.id, around)


def retiring(living: PersistentResource, facts: Mapping[str, Any], around: Surroundings) -> Generation:
    """Declare a cluster that still has work. It stays unchanged until a later deployment drops it."""
    full, place, outputs = _place(living.id, living.region, around)
    options = _options(full, ["*"], around)
    inputs = {**place, "resource_pools": [pool.request() for pool in living.spec.pools]}
    return _registered(
        Generation(living.id, facts, outputs, around.opts, inputs, options, around.transforms), living.id, around
    )


def _registered(generation: Generation, id_: str, around: Surroundings) -> Generation:
    if generation.cloud_urn is not None:
        around.registered[id_] = generation.cloud_urn
    return generation


def _options(full: str, ignored: list[str], around: Surroundings) -> pulumi.ResourceOptions:
    """Return the options of a cluster's resource. `full`: the full name of an existing cluster, otherwise empty."""
    options = pulumi.ResourceOptions(ignore_changes=ignored, hooks=around.hooks)
    if not full:
        return options
    more = pulumi.ResourceOptions(import_=full) if around.kept is None else around.kept
    return pulumi.ResourceOptions.merge(options, more)


def record_regions(name: str, regions: Iterable[str]) -> None:
    """Record in the state the other regions where clusters of the stack are, or may come to be, before any is asked for
    there. So a killed deployment's cluster is found when the stack file no longer names its region."""
    facts = {"regions": sorted(regions)}
    pulumi.ComponentResource(REGIONS, name, facts).register_outputs(facts)


def _place(id_: str, region: str, around: Surroundings) -> tuple[str, dict[str, str], dict[str, str]]:
    """Return a cluster's full name, its place, and what the state does not tell otherwise."""
    location = region or around.region
    full = f"projects/{around.project}/locations/{location}/persistentResources/{id_}"
    told = {"region": region if location != around.region else "", "stack": around.stack}
    place = {"project": around.project, "location": location}
    return full, place, {key: value for key, value in told.items() if value}
