"""Probes asked one after another, within the time there is, with one cluster for all that need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from journey.probes.cost import CLUSTER_MINUTES, SHARED_MACHINES
from journey.probes.probe import Finding, Probe, unknown
from journey.probes.service import Service, error_of
from slipway.base.errors import SlipwayError

Keep = Callable[[Probe, Finding], None]


def ask(service: Service, probes: Sequence[Probe], until: datetime, keep: Keep) -> None:
    """Ask every probe once and call `keep` after each. A probe that doesn't fit in the time until then is not asked.

    The shared cluster exists for as long as one of the probes needs it.
    """
    for probe in (one for one in probes if not one.on_cluster):
        keep(probe, _asked(service, probe, until))
    sharing = [one for one in probes if one.on_cluster]
    shortest = min((one.minutes for one in sharing), default=0)
    if not sharing:
        return
    if _left(service, until) < shortest + CLUSTER_MINUTES:
        for probe in sharing:
            keep(probe, _no_time(probe))
        return
    before = _shared(service)
    try:
        for probe in sharing:
            keep(probe, before or _asked(service, probe, until))
    finally:
        service.delete_cluster(service.cluster)


def _shared(service: Service) -> Finding | None:
    """Make the shared cluster; return the finding of every probe that needs it, where it does not run."""
    said = service.make_cluster(service.cluster, service.pool(SHARED_MACHINES))
    if not said.ok:
        return unknown("the cluster that probes share was refused", str(said))
    body = service.settled(service.cluster, CLUSTER_MINUTES) or {}
    if body.get("state") != "RUNNING":
        return unknown(f"the cluster that probes share did not run within {CLUSTER_MINUTES} minutes", error_of(body))
    return None


def _asked(service: Service, probe: Probe, until: datetime) -> Finding:
    if _left(service, until) < probe.minutes:
        return _no_time(probe)
    try:
        finding = probe.ask(service)
    except SlipwayError as error:
        return unknown(error.what, error.why)
    strange = {name.partition(".")[0] for name in finding.settings} - set(probe.settings)
    assert not strange, f"{probe.id} answers {strange}, which it does not declare"
    return replace(finding, answer=finding.answer or "unknown")


def _no_time(probe: Probe) -> Finding:
    return unknown(
        f"not asked: it may take {probe.minutes} minutes, and there are fewer left: MAX_MINUTES=… allows more"
    )


def _left(service: Service, until: datetime) -> float:
    return (until - service.now()).total_seconds() / 60
