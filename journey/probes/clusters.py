"""Probes of persistent resources: how long their operations take, and the answers to a change and to a cluster beyond
quota."""

from __future__ import annotations

from journey.probes.probe import Finding, Probe, unknown
from journey.probes.quotas import limit_of
from journey.probes.service import Service, error_of, seconds_between
from slipway.model.machines.spec import MachineSpec
from slipway.model.machines.table import region_has

_SCARCE, _METRIC = MachineSpec("g2-standard-4", "NVIDIA_L4", 1), "custom_model_training_nvidia_l4_gpus"
"""The cheapest machine whose quota is 0 where nobody has asked for any."""
_QUOTA_MINUTES = 10


def times(service: Service) -> Finding:
    """Make, reboot and delete a cluster of one machine."""
    cluster = f"{service.cluster}-times"
    said = service.make_cluster(cluster, service.pool())
    if not said.ok:
        return unknown("the cluster was refused", str(said))
    try:
        return _times(service, cluster)
    finally:
        service.delete_cluster(cluster)


def _times(service: Service, cluster: str) -> Finding:
    body = service.settled(cluster, 25)
    if body is None or body["state"] != "RUNNING":
        return unknown("the cluster did not run within 25 minutes", error_of(body or {}))
    found: dict[str, str | int | float | bool] = {}
    made = seconds_between(body.get("createTime"), body.get("startTime"))
    if made is not None:
        found["create_seconds"] = round(made, 1)
    began = service.now()
    said = service.post(f"reboot {cluster}", f"{service.url}/persistentResources/{cluster}:reboot", {})
    if said.ok:

        def again() -> bool | None:
            operation = service.get("read the reboot", _operation_url(service, said.name))
            return True if operation.body.get("done") else None

        if service.until(again, 15):
            found["reboot_seconds"] = round((service.now() - began).total_seconds(), 1)
    began = service.now()
    if service.delete_cluster(cluster, 15):
        found["delete_seconds"] = round((service.now() - began).total_seconds(), 1)
    words = ", ".join(f"{name.removesuffix('_seconds')} {value} s" for name, value in found.items())
    missing = {"create_seconds", "reboot_seconds", "delete_seconds"} - found.keys()
    if missing:
        words += f"; unknown: {', '.join(sorted(missing))}, as it took longer than the probe waits, or was refused"
    return Finding(
        words, f"createTime {body.get('createTime')}, startTime {body.get('startTime')}, reboot: {said}", found
    )


def _operation_url(service: Service, name: str) -> str:
    return service.connection.endpoints.vertex(service.region) + name


def patch_refusal(service: Service) -> Finding:
    """Ask to change the shared cluster's size to the size it has."""
    body = {"resourcePools": [service.pool(2)]}
    url = f"{service.url}/persistentResources/{service.cluster}"
    said = service.patch("resize a cluster", url, body, updateMask="resource_pools.replica_count")
    if said.ok:
        return unknown("the change was accepted, so a plain cluster can be resized; no setting has that", str(said))
    if said.status == 400 and said.reason in ("INVALID_ARGUMENT", "FAILED_PRECONDITION"):
        return Finding(f"refused with {said.reason}", str(said), {"patch_refusal": said.reason})
    return unknown("refused in a way that no setting has", str(said))


def beyond_quota(service: Service) -> Finding:
    """Ask for a cluster of one machine whose quota here is 0. Should it be made, delete it at once."""
    if not region_has(service.region, "NVIDIA_L4"):
        return unknown(f"{service.region} has no L4, whose quota is 0 in most projects")
    limit = limit_of(service, _METRIC)
    if limit != 0:
        return unknown(f"the quota of L4 is {limit} here, and it asks only where it is 0, so that nothing is made")
    cluster = f"{service.cluster}-quota"
    said = service.make_cluster(cluster, service.pool(machine=_SCARCE))
    if said.status == 429:
        return Finding("refused at once", f"{_SCARCE}: {said}", {"cluster_quota": "reject"})
    if not said.ok:
        return unknown("refused for another reason", f"{_SCARCE}: {said}")
    try:
        body = service.settled(cluster, _QUOTA_MINUTES) or {}
    finally:
        service.delete_cluster(cluster)
    if body.get("state") == "ERROR":
        if "quota" in error_of(body).lower():
            evidence = f"{_SCARCE}: state ERROR, {error_of(body)}"
            return Finding("made, and ends in ERROR", evidence, {"cluster_quota": "error"})
        return unknown("it ended in ERROR with words that do not name quota", error_of(body))
    return unknown(f"it was in state {body.get('state', 'PROVISIONING')} after {_QUOTA_MINUTES} minutes", _METRIC)


PROBES = (
    Probe(
        "cluster-times",
        "How long does a cluster take to be made, rebooted and deleted?",
        "1.3, typical transition times; 1.6",
        ("create_seconds", "reboot_seconds", "delete_seconds"),
        "makes a cluster of one small machine, reboots it, deletes it",
        70,
        times,
        machines=1,
    ),
    Probe(
        "patch-refusal",
        "With which code is a PATCH on a cluster that is not Ray refused?",
        "0, rule 1; 10.4",
        ("patch_refusal",),
        "asks the shared cluster to have the size that it has",
        2,
        patch_refusal,
        on_cluster=True,
    ),
    Probe(
        "cluster-quota",
        "Is a cluster beyond quota refused, or made and in ERROR later?",
        "3.4, quota limit too small; 11",
        ("cluster_quota",),
        "asks for a cluster of one machine whose quota is 0 in the region; one that is made is deleted",
        _QUOTA_MINUTES + 10,
        beyond_quota,
        dear=_SCARCE,
        dear_minutes=_QUOTA_MINUTES + 10,
    ),
)
