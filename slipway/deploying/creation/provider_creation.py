"""The creation of a cluster by the provider, where no bucket is there to note it in: the engine's hook stands by."""

from __future__ import annotations

from dataclasses import dataclass, field

from slipway.base.formatting import span
from slipway.deploying.creation.creation_context import CreationContext, CreationPolicy
from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError
from slipway.model.cluster import CurrentCluster


@dataclass
class ProviderCreation:
    """The creations of a deployment. The provider forgets a cluster whose creation failed, and it keeps its name."""

    cloud: CreationContext
    policy: CreationPolicy
    _began: dict[str, float] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=dict)

    def may_try_again(self, cluster: CurrentCluster, why: str) -> bool:
        """Tell whether the provider is to try again, after a pause, and with its failed cluster out of the way."""
        now = self.cloud.now()
        began, tries = self._began.setdefault(cluster.id, now), self._tries.get(cluster.id, 0)
        patience, living = self.policy.patience(cluster.spec), self._look(cluster)
        if living is not None and living.state != "ERROR":
            self.cloud.warn(
                f"cluster {cluster.id} was made although its answer did not come, and is billed; deploy again: the "
                "next `up` takes it over"
            )
            return False
        if living is not None and self.cloud.clear(living.name, cluster, self.policy.cleared):
            return False
        if now - began >= patience:
            return False
        if not tries:
            self.cloud.warn(f"cluster {cluster.id} could not be made: {why}; trying again, for up to {span(patience)}")
        self._tries[cluster.id] = tries + 1
        self.cloud.pause(min(self.policy.first * 2**tries, self.policy.again, patience - (now - began)))
        return True

    def _look(self, cluster: CurrentCluster) -> PersistentResource | None:
        """Return the living cluster of this id, where it is ours."""
        try:
            living = self.cloud.vertex.persistent_resource(cluster.id)
        except CloudError:
            return None
        return living if self.cloud.is_ours(living, cluster) else None
