"""Clusters that somebody else made, and that the stack file names by their ids: taken as they are, and never changed.

The engine has no resource for one. So it can't change one or delete it, whatever becomes of the stack, and a lost state
loses nothing. What the entry says is held against what lives at each deployment, as templates are proven by it. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cluster import ACCOUNTS_FLAG, Adoption, ClusterSpec, CurrentCluster, PoolSpec, PscInterface
from slipway.fingerprint import is_id_of
from slipway.formatting import join, nearest
from slipway.labels import STACK_LABEL
from slipway.machines.spec import MachineSpec

_STEADY = "RUNNING"
_USABLE = ("RUNNING", "UPDATING", "REBOOTING")
_UNUSABLE: Mapping[str, str] = {
    "ERROR": "failed and holds nothing",
    "STOPPING": "is being deleted",
    "PROVISIONING": "is still being made",
}
_ACCOUNTS = "serviceAccount.custom"
_OUT = "name another, or take the entry out"


def adopted(spec: ClusterSpec, adoption: Adoption, cluster: PersistentResource | None) -> CurrentCluster:
    """With its own labels and display name, which the stack file does not have. None: it was not read."""
    if cluster is None:
        return CurrentCluster(spec, adoption.id, "", import_=True, state="adopted, not read")
    named = replace(spec, display_name=cluster.display_name or spec.name, labels=cluster.labels)
    return CurrentCluster(named, adoption.id, "", import_=True, state=cluster.state)


def obstacles(
    spec: ClusterSpec,
    adoption: Adoption,
    clusters: Mapping[str, PersistentResource],
    generated: Iterable[str],
    *,
    stack: str,
    place: str,
    kept: Container[str] = (),
) -> Iterator[str]:
    """Why a cluster can't be adopted as its entry says, a sentence each, with where to mend it. `clusters` by id;
    `generated`: the first ids of what this stack makes; `kept`: ids that the engine has as its own; `place`: the region
    and project, in words."""
    id_, cluster = adoption.id, clusters.get(adoption.id)
    whose = cluster.labels.get(STACK_LABEL) if cluster else None
    if cluster is None:
        near = nearest(id_, clusters)
        others = f"did you mean {near}?" if near else f"there {_listed(clusters)}"
        yield _at(spec, "id", f"there is no cluster {id_} in {place}; {others}; {_OUT}")
    elif whose == stack:
        made = f"{id_} is a cluster that this stack made, as its labels say"
        yield _at(spec, "id", f"{made}; leave `id` out: the entry by which it was made keeps it")
    elif whose:
        words = f"{id_} belongs to stack {whose} ({STACK_LABEL}), which deletes it when it is done with it"
        yield _at(spec, "id", f"{words}: two stacks can't have one cluster; submit to it by stack {whose}, or {_OUT}")
    elif id_ in kept:
        words = f"{id_} is in the state of this stack, so the engine would delete it as one of its own"
        out = "pulumi state delete URN makes the engine forget it (pulumi stack --show-urns tells the URN)"
        yield _at(spec, "id", f"{words}; {out}; or {_OUT}")
    elif any(is_id_of(id_, base) for base in generated):
        words = f"{id_} is an id that this stack gives to clusters of its own, and somebody else made this one"
        yield _at(spec, "id", f"{words}; raise `generation` of the cluster that would have it, or {_OUT}")
    elif cluster.state not in _USABLE:
        why = f" ({cluster.error})" if cluster.error else ""
        then = "pulumi up again when it runs" if cluster.state == "PROVISIONING" else _OUT
        words = f"{_UNUSABLE.get(cluster.state, 'takes no jobs')} ({cluster.state})"
        yield _at(spec, "id", f"{id_} {words}{why}: nobody could submit to it; {then}")
    else:
        yield from differences(spec, cluster)


def differences(spec: ClusterSpec, cluster: PersistentResource) -> Iterator[str]:
    """Where an entry is not what lives, a sentence each. While it grows or shrinks its numbers are not looked at."""
    asked_pools, found_pools = {pool.name: pool for pool in spec.pools}, {pool.id: pool for pool in cluster.pools}
    for name in sorted(asked_pools.keys() - found_pools.keys()):
        words = f"{cluster.id} has no pool {name}, only {join(sorted(found_pools))}; take it out"
        yield _at(spec, f"pools.{name}", words)
    for name in sorted(found_pools.keys() - asked_pools.keys()):
        words = f"{cluster.id} has a pool {name} too; write `{name}: {_entry(found_pools[name])}`"
        yield _at(spec, "pools", words)
    for name in sorted(asked_pools.keys() & found_pools.keys()):
        yield from _of_pool(spec, cluster, asked_pools[name], found_pools[name])
    for key, asked, found, written in settings(spec, cluster):
        yield from _unlike(spec, cluster, key, asked, found, written)


def settings(spec: ClusterSpec, cluster: PersistentResource) -> Iterator[tuple[str, str, str, str]]:
    """What is compared beside the pools: key, what the file says, what lives, and that as a stack file has it where it
    is not how people say it. Empty for none."""
    psc = spec.psc or PscInterface()
    peerings = sorted(f"{one.domain} {one.target_project} {one.target_network}" for one in psc.dns_peerings)
    ranges, there = sorted(cluster.reserved_ip_ranges), sorted(cluster.dns_peerings)
    attachment = psc.network_attachment or ""
    named = cluster.network_attachment.rpartition("/")[2] if "/" not in attachment else cluster.network_attachment
    yield from (
        ("network", spec.network or "", cluster.network, ""),
        ("reservedIpRanges", ", ".join(sorted(spec.reserved_ip_ranges)), ", ".join(ranges), _list(ranges)),
        ("encryption.kmsKey", spec.kms_key or "", cluster.kms_key, ""),
        ("pscInterface.networkAttachment", attachment, named, ""),
        ("pscInterface.dnsPeeringConfigs", ", ".join(peerings), ", ".join(there), _list(map(_peering, there))),
        (
            _ACCOUNTS,
            str(spec.custom_service_account).lower(),
            str(cluster.custom_service_account).lower(),
            "",
        ),
    )


def _of_pool(spec: ClusterSpec, cluster: PersistentResource, asked: PoolSpec, found: ResourcePool) -> Iterator[str]:
    key, machine, there = f"pools.{asked.name}", asked.machine, found.machine
    yield from _unlike(spec, cluster, f"{key}.machine", machine.type, there.type)
    if machine.type == there.type:
        wants, has = (f"{one.accelerator_count} {one.accelerator}" * bool(one.accelerator) for one in (machine, there))
        yield from _unlike(spec, cluster, f"{key}.accelerator", wants, has, _accelerator(there))
    yield from _unlike(spec, cluster, f"{key}.disk.type", machine.disk.type, there.disk.type)
    yield from _unlike(spec, cluster, f"{key}.disk.sizeGb", str(machine.disk.size_gb), str(there.disk.size_gb))
    steady = cluster.state == _STEADY or (asked.autoscaled and found.min is not None)
    if steady:
        size = f"{{min: {asked.min}, max: {asked.max}}}" if asked.autoscaled else str(asked.replicas)
        yield from _unlike(spec, cluster, f"{key}.replicas", size, _size(found))


def _unlike(
    spec: ClusterSpec, cluster: PersistentResource, key: str, asked: str, found: str, written: str = ""
) -> Iterator[str]:
    """`written`: what was found as the stack file has it, where that is not how people say it."""
    if asked == found:
        return
    last = key.rpartition(".")[2]
    mend = f"write `{last}: {written or found}`" if found else f"take `{last}` out"
    if key == _ACCOUNTS and found == "false":
        mend = f"no template can run on it: name one that was made with {ACCOUNTS_FLAG}, or {mend}"
    yield _at(spec, key, f"the file says {asked or 'none'}, and {cluster.id} has {found or 'none'}; {mend}")


def _at(spec: ClusterSpec, key: str, words: str) -> str:
    """`stacks/Pulumi.dev.yaml:12  slipway:persistentResources.ray.id: …`, as findings of a stack file begin."""
    line = spec.adopted.line(key) if spec.adopted else ""
    return f"{f'{line}  ' if line else ''}slipway:persistentResources.{spec.name}.{key}: {words}"


def _entry(pool: ResourcePool) -> str:
    """The pool as a stack file has it."""
    machine, gpus = pool.machine, ""
    if machine.accelerator and machine.type.startswith("n1-"):
        gpus = f", accelerator: {_accelerator(machine)}"
    disk = f"{{type: {machine.disk.type}, sizeGb: {machine.disk.size_gb}}}"
    return f"{{machine: {machine.type}{gpus}, disk: {disk}, replicas: {_size(pool)}}}"


def _accelerator(machine: MachineSpec) -> str:
    return f"{{type: {machine.accelerator}, count: {machine.accelerator_count}}}"


def _peering(words: str) -> str:
    """From DOMAIN PROJECT NETWORK."""
    domain, project, network = words.split(" ", 2)
    return f"{{domain: {domain}, targetProject: {project}, targetNetwork: {network}}}"


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _size(pool: ResourcePool) -> str:
    return str(pool.replicas) if pool.min is None else f"{{min: {pool.min}, max: {pool.max}}}"


def _listed(clusters: Iterable[str]) -> str:
    ids = sorted(clusters)
    return f"{'is' if len(ids) == 1 else 'are'} {join(ids)}" if ids else "is none"
