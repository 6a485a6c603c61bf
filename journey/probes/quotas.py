"""Probes of Cloud Quotas and Monitoring: they read, and neither make nor ask for anything."""

from __future__ import annotations

from datetime import timedelta

from journey.probes.probe import Finding, Probe, Value, unknown
from journey.probes.service import Service
from slipway.google.failures import Call
from slipway.google.quotas import SERVICE, QuotaInfo

_TRAINING = "custom_model_training_"
_SLOW_MINUTES = 20
_INCREASES = ("", "NO_VALID_BILLING_ACCOUNT", "NOT_SUPPORTED", "NOT_ENOUGH_USAGE_HISTORY", "OTHER")


def limit_of(service: Service, metric: str) -> int | None:
    """Return the limit of a metric in the region, None where the service names none."""
    return next((info.limit(service.region) for info in _infos(service) if info.metric == f"{SERVICE}/{metric}"), None)


def limits(service: Service) -> Finding:
    """Read every limit of custom training."""
    found: dict[str, Value] = {}
    for info in _infos(service):
        limit, metric = info.limit(service.region), info.metric.removeprefix(f"{SERVICE}/")
        if metric.startswith(_TRAINING) and limit is not None:
            found[f"quota.{metric}.{service.region}"] = limit
    if not found:
        return unknown("Cloud Quotas lists no limit of custom training for this region")
    preemptible = {name: value for name, value in found.items() if "_preemptible_" in name}
    words = f"{len(found)} limits in {service.region}, {len(preemptible)} of them preemptible"
    shown = ", ".join(f"{name.split('.')[1].removeprefix(_TRAINING)} {value}" for name, value in preemptible.items())
    return Finding(words, f"quotaInfos: {shown or 'none preemptible'}", found)


def eligibility(service: Service) -> Finding:
    """Read whether the project may ask for more."""
    reasons = {info.ineligibility or "" for info in _infos(service) if info.metric.startswith(f"{SERVICE}/{_TRAINING}")}
    if not reasons:
        return unknown("Cloud Quotas lists no quota of custom training")
    shown = ", ".join(sorted(reason or "eligible" for reason in reasons))
    if len(reasons) > 1:
        return unknown("it is not the same for all quotas, and the setting has one reason for all", shown)
    (reason,) = reasons
    if reason not in _INCREASES:
        return unknown("the reason is one that the setting has not", shown)
    return Finding(reason or "increases can be had", shown, {"quota_ineligible": reason})


def grants(service: Service) -> Finding:
    """Read the outcome of the increases that the project has asked for."""
    asked = list(service.connection.quotas(service.project).preferences(service.region))
    decided = [one for one in asked if not one.reconciling and one.granted is not None]
    partial = [one for one in decided if one.granted is not None and one.granted != one.preferred]
    evidence = "; ".join(
        f"{one.quota_id}: {one.granted} of {one.preferred}{f', {one.detail}' if one.detail else ''}" for one in decided
    )
    if not decided:
        return unknown(f"nothing that was asked for in {service.region} has been decided yet")
    if not partial:
        return Finding("all that was asked for was granted", evidence, {"quota_grant_ceiling": -1})
    amounts = {one.granted for one in partial}
    granted = [one.granted for one in decided if one.granted is not None]
    if len(amounts) == 1 and max(granted) in amounts:
        return Finding(f"{max(granted)} at most", evidence, {"quota_grant_ceiling": max(granted)})
    return unknown("grants differ from quota to quota, and the setting has one ceiling for all", evidence)


def series(service: Service) -> Finding:
    """Read the last day of quota usage and limits, until there are some or the shared cluster has run for long."""
    kinds: dict[str, int] = {}

    def look() -> bool | None:
        kinds.update({kind: _count(service, kind) for kind in ("quota/allocation/usage", "quota/limit")})
        return True if any(kinds.values()) else None

    service.until(look, _SLOW_MINUTES)
    shown = ", ".join(f"{kind}: {count} series of custom training" for kind, count in kinds.items())
    if all(kinds.values()):
        return Finding("they are there", shown, {"quota_series": True})
    if any(kinds.values()):
        return unknown("only some are there", shown)
    return Finding(
        "they are not there", f"{shown}, after {_SLOW_MINUTES} minutes of a cluster", {"quota_series": False}
    )


def _count(service: Service, kind: str) -> int:
    now = service.now()
    wanted = (
        f'metric.type="serviceruntime.googleapis.com/{kind}" AND resource.type="consumer_quota" '
        f'AND resource.label.service="{SERVICE}"'
    )
    found = service.connection.session.pages(
        f"{service.connection.endpoints.monitoring}projects/{service.project}/timeSeries",
        Call("read series of quota", "monitoring.timeSeries.list", f"project {service.project}"),
        "timeSeries",
        {
            "filter": wanted,
            "interval.startTime": (now - timedelta(days=1)).isoformat(),
            "interval.endTime": now.isoformat(),
        },
    )
    names = (str(one.get("metric", {}).get("labels", {}).get("quota_metric", "")) for one in found)
    return sum(_TRAINING in name for name in names)


def _infos(service: Service) -> list[QuotaInfo]:
    call = Call(f"read the quotas of {service.project}", "cloudquotas.quotas.get", f"project {service.project}")
    everywhere = f"{service.connection.endpoints.of('quotas')}projects/{service.project}/locations/global"
    url = f"{everywhere}/services/{SERVICE}/quotaInfos"
    found = service.connection.session.pages(url, call, "quotaInfos", {"pageSize": 500})
    return [QuotaInfo.read(body) for body in found]


PROBES = (
    Probe(
        "quota-limits",
        "What are the limits of custom training here, the preemptible ones above all?",
        "4.4, preemptible defaults; 11",
        ("quota",),
        "reads Cloud Quotas",
        2,
        limits,
    ),
    Probe(
        "quota-eligibility",
        "Can more quota be had, and if not, why?",
        "6.2, ineligibilityReason",
        ("quota_ineligible",),
        "reads Cloud Quotas",
        2,
        eligibility,
    ),
    Probe(
        "quota-grants",
        "Are requests for more quota granted in full?",
        "6.3, partial approval",
        ("quota_grant_ceiling",),
        "reads what became of earlier requests; asks for nothing, as no preference can be deleted",
        2,
        grants,
    ),
    Probe(
        "quota-series",
        "Does Monitoring have series of quota usage and limits for custom training?",
        "6.4, not verified; 11",
        ("quota_series",),
        "reads Monitoring's last day while the shared cluster draws quota, for up to 20 minutes",
        22,
        series,
        on_cluster=True,
    ),
)
