"""Requests for more quota: their outcomes, those that a stack declares, and those that a person sends. Pure.

A request is a quota preference of the API: one for each quota and region, whoever made it. It is never deleted, so
Slipway never lowers it either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.base.formatting import join, nearest, numbered
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.metrics import quota_id
from slipway.google.quota.report import QuotaRow
from slipway.google.quota.request import QuotaRequest, Requested, limit_in_words, more
from slipway.google.quotas import PREFIX, SERVICE, QuotaPreference
from slipway.model.machines.table import all_accelerators
from slipway.model.state import StatePreference


def preference_id(quota: str, region: str) -> str:
    """Return the id of a new preference: the same for equal requests."""
    return f"aiplatform_googleapis_com-{quota}_{region}"


def quota_of(live: Live, metric: str) -> str:
    """Return the quota's id as the service lists it, else by the pattern of known ones; empty where neither tells."""
    limit = live.limit(metric)
    return (limit.quota_id if limit else "") or quota_id(metric) or ""


def requested(live: Live, metric: str, enough: int) -> Requested | None:
    """Return the outcome of the request for more of a metric.

    Without a request it is hopeless where more is needed and can't be had; else None.
    """
    if preference := preference_of(live, metric):
        return became_of(preference)
    limit = live.limit(metric)
    if limit and limit.increase not in (Increase.UNTOLD, Increase.POSSIBLE) and limit.lacks(enough):
        return Requested("hopeless", asked=None, why=limit.increase)
    return None


def preference_of(live: Live, metric: str) -> QuotaPreference | None:
    """Return the request for a metric's quota; None also where that could not be read."""
    return None if isinstance(live.preferences, Unknown) else live.preferences.get(quota_of(live, metric))


def became_of(preference: QuotaPreference) -> Requested:
    asked, granted = preference.preferred, preference.granted
    if preference.reconciling:
        return Requested("pending", asked=asked, granted=granted)
    if granted is not None and not more(asked, granted):
        return Requested("granted", asked=asked, granted=granted)
    why = preference.detail or "the service gives no reason"
    return Requested("partly" if granted else "hopeless", asked=asked, granted=granted, why=why)


def requests(
    lines: Iterable[QuotaRow], live: Live, known: Iterable[StatePreference] = (), *, strict: bool = False
) -> tuple[QuotaRequest, ...]:
    """Return the requests that a stack declares.

    They are one for each quota that is short at the maximum and can be raised; and the stack's existing ones (`known`,
    as the engine has them), while it draws the quota. These are raised for the use by others where it blocks the
    deployment: for clusters that are made now, and with `strict`. Otherwise anybody's job would raise a limit for good.
    """
    by_metric: dict[str, list[QuotaRow]] = {}
    for line in lines:
        by_metric.setdefault(line.metric, []).append(line)
    every = (_request(metric, rows, live, tuple(known), strict) for metric, rows in by_metric.items())
    return tuple(request for request in every if request)


def _request(
    metric: str, lines: list[QuotaRow], live: Live, known: tuple[StatePreference, ...], strict: bool
) -> QuotaRequest | None:
    region, quota = lines[0].region, quota_of(live, metric)
    ours = next((request for request in known if (request.quota_id, request.region) == (quota, region)), None)
    if isinstance(live.preferences, Unknown) or live.skipped:
        if ours is None:
            return None
        # Nothing else was read: the stack's own request stays as it is.
        return QuotaRequest(metric=metric, region=region, quota_id=quota, id=ours.id, value=ours.preferred, known=True)
    limit = live.limit(metric)
    lacking = [line for line in lines if limit and limit.lacks(line.enough)]
    wanted = max((line.enough for line in lacking), default=0)
    can_be_raised = limit is not None and limit.increase == Increase.POSSIBLE and bool(quota)
    preference = preference_of(live, metric)
    if preference is None:
        if not (wanted and can_be_raised):
            return None
        id_ = preference_id(quota, region)
        return QuotaRequest(metric=metric, region=region, quota_id=quota, id=id_, value=wanted, wanted=wanted)
    # Somebody else may have made it, under another id: then it is adopted unchanged.
    is_ours = ours is not None and ours.id == preference.id
    if not (wanted or is_ours):
        return None
    if is_ours and more(wanted, preference.preferred):
        # The use by others counts only where it blocks the deployment.
        needed = (line.enough if line.short or strict else min(line.ceiling, line.enough) for line in lacking)
        if not more(max(needed), preference.preferred):
            wanted = preference.preferred
    raises = is_ours and can_be_raised and more(wanted, preference.preferred)
    return QuotaRequest(
        metric=metric,
        region=region,
        quota_id=quota,
        id=preference.id,
        value=wanted if raises else preference.preferred,
        wanted=wanted,
        there=preference,
        known=is_ours,
    )


@dataclass(frozen=True)
class Ask:
    metric: str
    #: The present one.
    limit: int
    #: The new one.
    preference: QuotaPreference


def _parsed(word: str) -> tuple[str, int | None]:
    """Return the quota's name and the limit of `METRIC[=VALUE]`. Raises ConfigError where the limit is not a number."""
    name, equals, value = word.partition("=")
    try:
        return name.strip(), int(value.replace(",", "")) if equals else None
    except ValueError as problem:
        raise ConfigError(
            f"invalid --request {word}", why=f"{value!r} is not a number", fix=f"--request {name}=16, for example"
        ) from problem


def _limit(name: str, value: int | None, live: Live) -> QuotaLimit:
    """Return the limit of a listed quota by its id, or by its metric, whose prefix and `nvidia_` may be left out.
    Raises ConfigError for any other name, with the listed quotas that may be meant; of a GPU all that it has."""
    listed = {} if isinstance(live.limits, Unknown) else live.limits
    by_short_name = {metric.removeprefix(PREFIX): metric for metric in listed}
    word = name.removeprefix(f"{SERVICE}/").casefold()
    for short_name, metric in by_short_name.items():
        if word in (metric, short_name, short_name.replace("nvidia_", ""), quota_of(live, metric).casefold()):
            return listed[metric]
    meant = _meant(word.removeprefix(PREFIX), by_short_name)
    why = "the service lists none of that name in this region"
    if len(meant) > 1:
        why = "several quotas are of that; Spot and flex-start draw the preemptible ones, all else draws the others"
    assigned = "" if value is None else f"={value}"
    options = join((f"--request {short_name}{assigned}" for short_name in meant), "or")
    near = get_close_matches(word.removeprefix(PREFIX), by_short_name, n=3, cutoff=0.0)
    raise ConfigError(f"no quota {name}", why=why, fix=options or f"a name that is listed, such as {join(near, 'or')}")


def _meant(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that a word with a typing error may stand for: of the same machines and of the same unit."""
    listed, parts = list(names), _parts(word)
    kinds = [row.quota for row in all_accelerators() if word in (row.name.casefold(), row.model.casefold())]
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
    """Return requests for the metrics that are short now or at the maximum and can be raised.

    None are needed where a sufficient one exists, and outside the stack's own region: clusters elsewhere are
    alternatives, and may be left out.
    """
    asks = []
    for metric, enough in _enough(lines, live).items():
        limit = live.limit(metric)
        preference = preference_of(live, metric)
        is_asked = preference is not None and not more(enough, preference.preferred)
        if limit and limit.increase == Increase.POSSIBLE and quota_of(live, metric) and not is_asked:
            asks.append(_ask(live, limit, enough))
    return asks


def ask_for(word: str, lines: Iterable[QuotaRow], live: Live) -> Ask:
    """Return the request of `METRIC[=VALUE]` in the stack's own region; without a value, for a sufficient limit.

    Raises ConfigError for an unknown metric and an impossible limit, ResourceError for an existing request, PolicyError
    where no increase can be had.
    """
    name, value = _parsed(word)
    limit = _limit(name, value, live)
    metric = limit.metric
    lines = [line for line in lines if not line.elsewhere]
    present = f"the limit is {limit_in_words(limit.limit)}"
    if value is None:
        value = _enough(lines, live).get(metric)
    if value is None:
        raise ConfigError(f"quota {metric} suffices", why=present, fix=f"--request {name}=VALUE")
    if not more(value, limit.limit):
        raise ConfigError(
            f"{limit_in_words(value)} is no increase of {metric}",
            why=f"{present}; this command never lowers one",
            fix="a higher VALUE",
        )
    preference = preference_of(live, metric)
    if preference and (more(preference.preferred, value) or (preference.preferred == value and preference.reconciling)):
        raise ResourceError(
            f"quota {metric} was asked for already",
            why=str(became_of(preference)),
            fix="wait for that, which slipway quota shows, or ask for more",
        )
    if limit.increase != Increase.POSSIBLE:
        raise PolicyError(
            f"no increase of {metric} can be had",
            why=limit.increase,
            fix="ask your contact at Google, or use machines of another type or region",
        )
    return _ask(live, limit, value)


def by_gcloud(project: str, line: QuotaRow, value: int, ids: Mapping[str, str] | None) -> str:
    """Return the command that asks for a limit in the line's region; empty where the quota's id is unknown.

    `ids`: the published ones, by metric.
    """
    id_ = quota_id(line.metric, ids)
    if not id_:
        return ""
    return (
        f"gcloud beta quotas preferences create --project={project} --service={SERVICE} "
        f"--quota-id={id_} --dimensions=region={line.region} --preferred-value={value}"
    )


def _enough(lines: Iterable[QuotaRow], live: Live) -> dict[str, int]:
    by_metric: dict[str, int] = {}
    for line in lines:
        limit = live.limit(line.metric)
        if limit and not line.elsewhere and limit.lacks(line.enough):
            by_metric[line.metric] = max(line.enough, by_metric.get(line.metric, 0))
    return by_metric


def _ask(live: Live, limit: QuotaLimit, value: int) -> Ask:
    if there := preference_of(live, limit.metric):
        preference = replace(there, preferred=value)
    else:
        quota = quota_of(live, limit.metric)
        preference = QuotaPreference(
            id=preference_id(quota, limit.region), quota_id=quota, region=limit.region, preferred=value
        )
    return Ask(metric=limit.metric, limit=limit.limit, preference=preference)
