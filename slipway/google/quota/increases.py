"""Requests for more quota: their outcomes, those that a stack declares, and those that a person sends. Pure.

A request is a quota preference of the API: one for each quota and region, whoever made it. It is never deleted, so
Slipway never lowers it either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.base.formatting import join, nearest, numbered
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.metrics import quota_id
from slipway.google.quota.report import QuotaRow
from slipway.google.quota.request import QuotaRequest, Requested, lacks, limit_in_words, more
from slipway.google.quotas import PREFIX, SERVICE, QuotaPreference
from slipway.model.machines.table import all_accelerators
from slipway.model.state import StatePreference


def preference_id(quota: str, region: str) -> str:
    """Return the id of a new preference: the same for equal requests."""
    return f"aiplatform_googleapis_com-{quota}_{region}"


def quota_of(live: Live, metric: str) -> str:
    """Return the quota's id as the service lists it, else by the pattern of the known ones; empty where neither
    tells."""
    limit = live.limit(metric)
    return (limit.quota_id if limit else "") or quota_id(metric) or ""


def requested(live: Live, metric: str, enough: int) -> Requested | None:
    """Return the outcome of the request for more of a metric. Without one, return that it is hopeless where more is
    needed and can't be had; else None."""
    if there := preference_of(live, metric):
        return became_of(there)
    limit = live.limit(metric)
    hopeless = limit and limit.increase not in (Increase.UNTOLD, Increase.POSSIBLE) and lacks(limit, enough)
    return Requested("hopeless", None, None, limit.increase) if limit and hopeless else None


def preference_of(live: Live, metric: str) -> QuotaPreference | None:
    """Return the request for a metric's quota; None also where that could not be read."""
    return None if isinstance(live.preferences, Unknown) else live.preferences.get(quota_of(live, metric))


def became_of(there: QuotaPreference) -> Requested:
    if there.reconciling:
        return Requested("pending", there.preferred, there.granted)
    if there.granted is not None and not more(there.preferred, there.granted):
        return Requested("granted", there.preferred, there.granted)
    why = there.detail or "the service gives no reason"
    return Requested("partly" if there.granted else "hopeless", there.preferred, there.granted, why)


def requests(
    lines: Iterable[QuotaRow], live: Live, known: Iterable[StatePreference] = (), *, strict: bool = False
) -> tuple[QuotaRequest, ...]:
    """Return a request for each quota that is short at the maximum and can be raised; and the stack's existing ones
    (`known`, as the engine has them), while it draws the quota. They are raised for the use by others where it blocks
    the deployment: for clusters that are made now, and with `strict`. Otherwise anybody's job would raise a limit for
    good."""
    by_metric: dict[str, list[QuotaRow]] = {}
    for line in lines:
        by_metric.setdefault(line.metric, []).append(line)
    found = (_request(metric, several, live, tuple(known), strict) for metric, several in by_metric.items())
    return tuple(one for one in found if one)


def _request(
    metric: str, lines: list[QuotaRow], live: Live, known: tuple[StatePreference, ...], strict: bool
) -> QuotaRequest | None:
    region, quota, there = lines[0].region, quota_of(live, metric), preference_of(live, metric)
    ours = next((one for one in known if (one.quota_id, one.region) == (quota, region)), None)
    if isinstance(live.preferences, Unknown) or live.skipped:
        return QuotaRequest(metric, region, quota, ours.id, ours.preferred, known=True) if ours else None
    limit = live.limit(metric)
    lacking = [line for line in lines if limit and lacks(limit, line.enough)]
    wanted = max((line.enough for line in lacking), default=0)
    can = limit is not None and limit.increase == Increase.POSSIBLE and bool(quota)
    if there is None:
        id_ = preference_id(quota, region)
        return QuotaRequest(metric, region, quota, id_, wanted, wanted) if wanted and can else None
    # Somebody may have made it under another id; only the existing one is known.
    is_ours = ours is not None and ours.id == there.id
    if not (wanted or is_ours):
        return None
    if is_ours and more(wanted, there.preferred):
        needed = (line.enough if line.short or strict else min(line.ceiling, line.enough) for line in lacking)
        wanted = wanted if more(max(needed), there.preferred) else there.preferred
    value = wanted if is_ours and can and more(wanted, there.preferred) else there.preferred
    return QuotaRequest(metric, region, quota, there.id, value, wanted, there, is_ours)


@dataclass(frozen=True)
class Ask:
    """A request to send: the new `preference`, for the metric with this limit."""

    metric: str
    limit: int
    preference: QuotaPreference


def _parsed(word: str) -> tuple[str, int | None]:
    """Return the quota's name and the limit of `METRIC[=VALUE]`. Raises ConfigError for a limit that is not a
    number."""
    name, given, value = word.partition("=")
    try:
        return name.strip(), int(value.replace(",", "")) if given else None
    except ValueError as problem:
        why, fix = f"{value!r} is not a number", f"--request {name}=16, for example"
        raise ConfigError(f"invalid --request {word}", why=why, fix=fix) from problem


def _limit(name: str, value: int | None, live: Live) -> QuotaLimit:
    """Return the limit of a listed quota that is named by its id, or by its metric, of which the prefix and `nvidia_`
    may be left out.

    Raises ConfigError for any other name. Its fix has the listed quotas that may be meant and no others: of a GPU all
    that it has.
    """
    listed = {} if isinstance(live.limits, Unknown) else live.limits
    short = {metric.removeprefix(PREFIX): metric for metric in listed}
    word = name.removeprefix(f"{SERVICE}/").casefold()
    for own, metric in short.items():
        if word in (metric, own, own.replace("nvidia_", ""), quota_of(live, metric).casefold()):
            return listed[metric]
    meant = _meant(word.removeprefix(PREFIX), short)
    why = "the service lists none of that name in this region"
    if len(meant) > 1:
        why = "several quotas are of that; Spot and flex-start draw the preemptible ones, all else draws the others"
    given = "" if value is None else f"={value}"
    requests = join((f"--request {own}{given}" for own in meant), "or")
    raise ConfigError(f"no quota {name}", why=why, fix=requests or f"one of {', '.join(short)}")


def _meant(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that a word with a typing error may stand for: of the same machines and of the same unit."""
    listed, parts = list(names), _parts(word)
    kinds = [one.quota for one in all_accelerators() if word in (one.name.casefold(), one.model.casefold())]
    if of_kinds := [name for name in listed if name.removeprefix("preemptible_") in kinds]:
        return of_kinds
    if near := nearest(word, (name for name in listed if numbered(name) == numbered(word)), cutoff=0.9):
        return [near]
    return [name for name in listed if parts and parts <= _parts(name)]


def _parts(name: str) -> set[str]:
    """Return `preemptible`, `t4` and `gpu` of `preemptible_nvidia_t4_gpus`, and of `spot-t4-gpu`."""
    words = re.findall("[a-z0-9]+", name.replace("spot", "preemptible"))
    return {word.removesuffix("s") for word in words} - {"nvidia", "tesla"}


def all_short(lines: Iterable[QuotaRow], live: Live) -> list[Ask]:
    """Return requests for the metrics that are short now or at the maximum and can be raised, unless a sufficient one
    exists. Only for the stack's own region: clusters elsewhere are alternatives, and may be left out."""
    found = []
    for metric, enough in _enough(lines, live).items():
        limit, there = live.limit(metric), preference_of(live, metric)
        asked = there is not None and not more(enough, there.preferred)
        if limit and limit.increase == Increase.POSSIBLE and quota_of(live, metric) and not asked:
            found.append(_ask(live, limit, enough))
    return found


def ask_for(word: str, lines: Iterable[QuotaRow], live: Live) -> Ask:
    """Return the request of `METRIC[=VALUE]` in the stack's own region; without a value, for a sufficient limit.

    Raises ConfigError for an unknown metric and an impossible limit, ResourceError for an existing request, PolicyError
    where no increase can be had.
    """
    name, value = _parsed(word)
    limit = _limit(name, value, live)
    metric = limit.metric
    lines = [line for line in lines if not line.elsewhere]
    there = preference_of(live, metric)
    now = f"the limit is {limit_in_words(limit.limit)}"
    if value is None and (value := _enough(lines, live).get(metric)) is None:
        raise ConfigError(f"quota {metric} suffices", why=now, fix=f"--request {name}=VALUE")
    if not more(value, limit.limit):
        what = f"{limit_in_words(value)} is no increase of {metric}"
        raise ConfigError(what, why=f"{now}; this command never lowers one", fix="a higher VALUE")
    if there and (more(there.preferred, value) or (there.preferred == value and there.reconciling)):
        what, fix = f"quota {metric} was asked for already", "wait for that, which slipway quota shows, or ask for more"
        raise ResourceError(what, why=str(became_of(there)), fix=fix)
    if limit.increase != Increase.POSSIBLE:
        fix = "ask your contact at Google, or use machines of another type or region"
        raise PolicyError(f"no increase of {metric} can be had", why=limit.increase, fix=fix)
    return _ask(live, limit, value)


def by_gcloud(project: str, line: QuotaRow, value: int, ids: Mapping[str, str] | None) -> str:
    """Return the command that asks for a limit in the line's region; empty where the quota's id is unknown. `ids`: the
    published ones, by metric."""
    id_ = quota_id(line.metric, ids)
    if not id_:
        return ""
    return (
        f"gcloud beta quotas preferences create --project={project} --service={SERVICE} "
        f"--quota-id={id_} --dimensions=region={line.region} --preferred-value={value}"
    )


def _enough(lines: Iterable[QuotaRow], live: Live) -> dict[str, int]:
    """Return sufficient limits, by the metrics that are short at home."""
    found: dict[str, int] = {}
    for line in lines:
        limit = live.limit(line.metric)
        if limit and not line.elsewhere and lacks(limit, line.enough):
            found[line.metric] = max(line.enough, found.get(line.metric, 0))
    return found


def _ask(live: Live, limit: QuotaLimit, value: int) -> Ask:
    there, quota = preference_of(live, limit.metric), quota_of(live, limit.metric)
    new = QuotaPreference(preference_id(quota, limit.region), quota, limit.region, value)
    return Ask(limit.metric, limit.limit, replace(there, preferred=value) if there else new)
