"""The probe of an autoscaled pool: how fast it grows, how long it waits before it shrinks, how long that takes."""

from __future__ import annotations

from journey.probes.probe import Finding, Probe, Value, unknown
from journey.probes.service import Service, error_of
from slipway.google.answers import Json, parse_timestamp

_IDLE_MINUTES = 30


def autoscaling(service: Service) -> Finding:
    """Run two jobs of one machine each on a pool of one to two machines, then none."""
    cluster = f"{service.cluster}-scale"
    said = service.make_cluster(cluster, service.pool(1, most=2))
    if not said.ok:
        return unknown("the cluster was refused", str(said))
    try:
        body = service.settled(cluster, 25)
        if body is None or body["state"] != "RUNNING":
            return unknown("the cluster did not run within 25 minutes", error_of(body or {}))
        return _scaled(service, cluster)
    finally:
        service.delete_cluster(cluster)


def _scaled(service: Service, cluster: str) -> Finding:
    first = service.make_job("scale-1", service.worker("hold 3600"), cluster=cluster)
    with service.ending(first.name):
        if not first.ok or not service.running(first.name, 10):
            return unknown("the first job did not run", str(first))
        began = service.now()
        second = service.make_job("scale-2", service.worker("hold 3600"), cluster=cluster)
        if not second.ok:
            return unknown("a job for which the pool would have to grow was refused", str(second))
        with service.ending(second.name):
            grown = service.until(lambda: _is(service, cluster, 2), 20)
            took_up = (service.now() - began).total_seconds()
        if grown is None:
            return unknown("the pool did not grow within 20 minutes of a job for which it was too small")
    found: dict[str, Value] = {"scale_up_seconds": round(took_up, 1)}
    idle_since = parse_timestamp(service.job(second.name).get("endTime")) or service.now()
    begun = service.until(lambda: _shrinks(service, cluster), _IDLE_MINUTES)
    waited = (service.now() - idle_since).total_seconds()
    evidence = f"grew from 1 to 2 in {took_up:.0f} s"
    if begun is None:
        answer = f"grows in {took_up:.0f} s; unknown: when it shrinks, as it had not after {_IDLE_MINUTES} idle minutes"
        return Finding(answer, evidence, found)
    found["scale_idle_seconds"] = round(waited, 1)
    shrinking = service.now()
    if service.until(lambda: _is(service, cluster, 1), 15) is not None:
        found["scale_down_seconds"] = round((service.now() - shrinking).total_seconds(), 1)
    words = ", ".join(
        f"{name.removeprefix('scale_').removesuffix('_seconds')} {value} s" for name, value in found.items()
    )
    return Finding(words, f"{evidence}; began to shrink after {waited:.0f} idle s, state {begun}", found)


def _pool(body: Json) -> int:
    return int(body["resourcePools"][0].get("replicaCount", 0))


def _is(service: Service, cluster: str, size: int) -> bool | None:
    body = service.look_at(cluster)
    return True if body and body["state"] == "RUNNING" and _pool(body) == size else None


def _shrinks(service: Service, cluster: str) -> str | None:
    body = service.look_at(cluster)
    return str(body["state"]) if body and (body["state"] == "UPDATING" or _pool(body) < 2) else None


PROBES = (
    Probe(
        "autoscaling",
        "How fast does an autoscaled pool grow, and when does it shrink?",
        "1.5, speeds and cool-downs not documented; 11",
        ("scale_up_seconds", "scale_idle_seconds", "scale_down_seconds"),
        "makes a cluster of one to two machines, has two jobs hold them, and waits until it is small again",
        120,
        autoscaling,
        machines=2,
    ),
)
