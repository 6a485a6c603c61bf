"""PersistentResource: one generation of a cluster. The provider never updates or replaces it; it comes and it goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from components.creation import Creation
from components.gcp import vertex
from slipway.cloud.clusters import ResourcePool
from slipway.cluster import PROTECT, CurrentCluster, PoolSpec
from slipway.generations.retiring import RetiringCluster

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
        spec, id, psc = current.spec, current.id, current.spec.psc
        super().__init__(TYPE, id, dict(facts), opts)
        location = spec.region or region
        full = resource_id(project, location, id)
        self.resource = vertex.AiPersistentResource(
            id,
            name=id,
            project=project,
            location=location,
            display_name=spec.display_name,
            labels=current.labels(pulumi.get_stack()),
            network=spec.network,
            reserved_ip_ranges=list(spec.reserved_ip_ranges) or None,
            encryption_spec=vertex.AiPersistentResourceEncryptionSpecArgs(kms_key_name=spec.kms_key)
            if spec.kms_key
            else None,
            psc_interface_config=None
            if psc is None
            else vertex.AiPersistentResourcePscInterfaceConfigArgs(
                network_attachment=psc.network_attachment,
                dns_peering_configs=[
                    vertex.AiPersistentResourcePscInterfaceConfigDnsPeeringConfigArgs(
                        domain=peering.domain,
                        target_project=peering.target_project,
                        target_network=peering.target_network,
                    )
                    for peering in psc.dns_peerings
                ],
            ),
            resource_pools=[_pool(pool.name, pool, autoscaled=pool.autoscaled) for pool in spec.pools],
            resource_runtime_spec=_with_custom_service_account() if spec.custom_service_account else None,
            deletion_policy=spec.deletion_policy,
            opts=pulumi.ResourceOptions.merge(
                pulumi.ResourceOptions(
                    parent=self,
                    import_=full if current.import_ else None,
                    ignore_changes=_MOVES,
                    custom_timeouts=_TIMEOUTS,
                    hooks=hooks,
                ),
                creation.taken_over(id, full) if creation and not current.import_ else None,
            ),
        )
        # The state tells it where the published catalog is lost.
        kept = {"protected": spec.name} if spec.replacement == PROTECT else {}
        self.register_outputs({"id": self.resource.name, **kept, **_elsewhere(location, region)})


class RetiringResource(pulumi.ComponentResource):
    """A cluster of an earlier generation that still has work. Kept exactly as it is until a later deployment drops it.

    The same type and name as when it was current, so that the state knows it again.
    """

    def __init__(
        self,
        retiring: RetiringCluster,
        *,
        project: str,
        region: str,
        facts: Mapping[str, Any],
        hooks: pulumi.ResourceHookBinding | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        cluster = retiring.cluster
        location = cluster.region or region
        super().__init__(TYPE, cluster.id, dict(facts), opts)
        self.resource = vertex.AiPersistentResource(
            cluster.id,
            name=cluster.id,
            project=project,
            location=location,
            resource_pools=[_pool(pool.id, pool, autoscaled=pool.min is not None) for pool in cluster.pools],
            opts=pulumi.ResourceOptions(
                parent=self,
                import_=resource_id(project, location, cluster.id),
                ignore_changes=["*"],
                custom_timeouts=_TIMEOUTS,
                hooks=hooks,
            ),
        )
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
    """Where clusters of the stack are, or may come to be, besides its own region: told to the state before any is asked
    for there. So one is found that a killed deployment asked for, when the stack file names its region no more."""

    def __init__(self, regions: Iterable[str]) -> None:
        facts = {"regions": sorted(regions)}
        super().__init__(REGIONS, "other-regions", facts)
        self.register_outputs(facts)


def resource_id(project: str, region: str, id: str) -> str:
    """The provider's id of a cluster."""
    return f"projects/{project}/locations/{region}/persistentResources/{id}"


def _elsewhere(location: str, region: str) -> dict[str, str]:
    """What tells the state that the cluster is not in its stack's region, and why that is no move of the stack."""
    return {"region": location} if location != region else {}


def _pool(id: str, pool: PoolSpec | ResourcePool, *, autoscaled: bool) -> vertex.AiPersistentResourceResourcePoolArgs:
    bounds = vertex.AiPersistentResourceResourcePoolAutoscalingSpecArgs(
        min_replica_count=str(pool.min), max_replica_count=str(pool.max)
    )
    return vertex.AiPersistentResourceResourcePoolArgs(
        id=id,
        machine_spec=vertex.AiPersistentResourceResourcePoolMachineSpecArgs(
            machine_type=pool.machine.type,
            accelerator_type=pool.machine.accelerator,
            accelerator_count=pool.machine.accelerator_count or None,
        ),
        replica_count=str(pool.replicas),
        disk_spec=vertex.AiPersistentResourceResourcePoolDiskSpecArgs(
            boot_disk_type=pool.machine.disk.type, boot_disk_size_gb=pool.machine.disk.size_gb
        ),
        autoscaling_spec=bounds if autoscaled else None,
    )


def _with_custom_service_account() -> vertex.AiPersistentResourceResourceRuntimeSpecArgs:
    # Its opposite can't be declared: the API leaves a false out, and the provider would plan a replacement for it.
    return vertex.AiPersistentResourceResourceRuntimeSpecArgs(
        service_account_spec=vertex.AiPersistentResourceResourceRuntimeSpecServiceAccountSpecArgs(
            enable_custom_service_account=True
        )
    )
