"""A cluster by name: its generations come and go, and no edit ends a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from .args import AlternativeArgs, PoolArgs, PscInterfaceArgs, Replacement, at_key, told
from .component import Component
from .generation import current
from .group import Group
from .keywords import arguments_of
from .workspace import Workspace


@told
@dataclass(kw_only=True)
class PersistentResourceArgs:
    """Arguments of `PersistentResource`. The cloud changes no field of a living cluster: an edit makes a *new
    generation* beside the old one, which goes after its last job, or what `replacement` says."""

    pools: pulumi.Input[Mapping[str, pulumi.Input[PoolArgs | Mapping[str, Any]]]]
    """Pools by name. A change makes a new generation."""
    display_name: pulumi.Input[str] | None = None
    """Name in the console; the component's name by default. A change makes a new generation."""
    network: pulumi.Input[str] | None = None
    """VPC network to peer with: `network.id`, a name, or a path with the project's number. A change makes a new
    generation."""
    reserved_ip_ranges: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """Names of allocated IP ranges in that network. A change makes a new generation."""
    kms_key: pulumi.Input[str] | None = at_key("encryption.kmsKey")
    """Customer-managed key in the cluster's region. A change makes a new generation."""
    psc_interface: pulumi.Input[PscInterfaceArgs | Mapping[str, Any]] | None = None
    """Private Service Connect interface; none by default. A change makes a new generation."""
    custom_service_account: pulumi.Input[bool] | None = at_key("serviceAccount.custom")
    """Have each job name its account, as templates need; True by default. A change makes a new generation."""
    labels: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """Labels of the cluster. A change makes a new generation. Labels of the provider do nothing."""
    replacement: pulumi.Input[str | Replacement] | None = None
    """Way to carry out an edit: "rollover" (the default) makes the new generation beside the old one, "in-place" after
    it, once that is idle, and "protect" refuses the edit, as `protect=True` of the options does."""
    generation: pulumi.Input[int] | None = None
    """A number from 1 on, raised to get a new generation with the same settings."""
    retire_within: pulumi.Input[str] | None = None
    """Time after which a replaced cluster that is still busy is warned of: 12h, 7d. A change ends no job."""
    create_within: pulumi.Input[str] | None = None
    """Time for which the creation is tried again while there are no machines; 15m by default."""
    alternatives: pulumi.Input[Sequence[pulumi.Input[AlternativeArgs | Mapping[str, Any]]]] | None = None
    """Clusters to make in its place where its machines can't be had, in this order. One that runs is kept."""
    begins: pulumi.Input[str] | None = at_key("from")
    """Moment to make it at: 2027-01-10. A change does nothing to a living cluster."""
    ends: pulumi.Input[str] | None = at_key("until")
    """Moment to give it up at, after its last job."""
    idle_limit: pulumi.Input[str] | None = None
    """Time without a job after which it is given up: 3d."""
    id: pulumi.Input[str] | None = None
    """Id of a cluster that somebody else made, which is used and never changed or deleted. Another id leaves it be."""
    workspace: Workspace | None = None
    """The workspace whose people submit to it, where the program has several."""
    project: pulumi.Input[str] | None = at_key("gcp:project")
    """Project; the workspace's, or `gcp:project`, by default. A change is refused while the cluster lives."""
    region: pulumi.Input[str] | None = at_key("gcp:region")
    """Region; the workspace's, or `gcp:region`, by default. A change is refused while the cluster lives."""


class PersistentResource(Component):
    """A cluster with autoscaling pools, known by its name.

    The cloud changes no field of a living cluster, so an edit makes another generation beside it, with an id of its
    own. The old one takes no new jobs and is deleted when the last has ended. A deletion waits for jobs, or is refused.

    Attributes:
        cluster_id: Id of the present generation, to which jobs are sent.
        retiring: Ids of earlier generations that still have jobs.
    """

    kind = "cluster"
    args: PersistentResourceArgs
    cluster_id: pulumi.Output[str]
    retiring: pulumi.Output[Sequence[str]]

    def __init__(
        self,
        name: str,
        args: PersistentResourceArgs | pulumi.ResourceOptions | None = None,
        opts: pulumi.ResourceOptions | None = None,
        **arguments: Any,
    ) -> None:
        """Declare the cluster `name`. Raises ConfigError for arguments that no cluster can have.

        `arguments`: those of `PersistentResourceArgs` as keywords, in place of `args`.
        """
        given, opts = arguments_of(PersistentResourceArgs, name, args, opts, arguments)
        super().__init__("slipway:index:PersistentResource", name, given, opts, "clusterId", "retiring")
        self.cluster_id, self.retiring = self.output("clusterId"), self.output("retiring")

    async def declare(self, group: Group) -> Mapping[str, Any]:
        made, creation = await group.as_made(), await group.creating()
        await group.rest()
        # What jobs need is deleted after the cluster.
        outlive = [*group.given[self].sources, *([group.workspace] if group.workspace else [])]
        opts = pulumi.ResourceOptions(parent=self, depends_on=outlive)
        now = [
            current(
                cluster,
                group.identity.label,
                made.facts.clusters[cluster.id],
                group.around(cluster.id, opts),
                creation,
            )
            for cluster in made.plan.current
            if cluster.spec.name == self.name
        ]
        old = [generation.id for generation in group.retire(self.name, opts)]
        return {"clusterId": now[0].id if now else None, "retiring": old}
