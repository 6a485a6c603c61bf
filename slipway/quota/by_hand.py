"""Quota that a person asks for by hand: what to send for `METRIC=VALUE`, or for all that is short. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from slipway.cloud.quotas import SERVICE, QuotaPreference
from slipway.errors import ConfigError, PolicyError, ResourceError
from slipway.formatting import nearest
from slipway.live import INCREASABLE, Live, QuotaLimit
from slipway.quota.increases import became_of, preference_id, preference_of, quota_of
from slipway.quota.metrics import PREFIX, quota_id
from slipway.quota.report import Line
from slipway.quota.request import lacks, limit_in_words, more


@dataclass(frozen=True)
class Ask:
    """A request to send: `preference` as it is to be, of the metric with this limit."""

    metric: str
    limit: int
    preference: QuotaPreference


def parsed(word: str) -> tuple[str, int | None]:
    """The metric and the limit of `METRIC[=VALUE]`, the metric with or without what all have in front of it.

    Raises ConfigError for a limit that is not a number.
    """
    name, given, value = word.partition("=")
    metric = f"{PREFIX}{name.strip().removeprefix(f'{SERVICE}/').removeprefix(PREFIX)}"
    try:
        return metric, int(value.replace(",", "")) if given else None
    except ValueError as problem:
        why, fix = f"{value!r} is not a number", f"--request {name}=16, for example"
        raise ConfigError(f"invalid --request {word}", why=why, fix=fix) from problem


def all_short(lines: Iterable[Line], live: Live) -> list[Ask]:
    """Requests for what is short now or at most and can be raised, where none for as much is there already. In the
    stack's own region: what is elsewhere is an alternative, and may be left out."""
    found = []
    for metric, enough in _enough(lines, live).items():
        limit, there = live.limit(metric), preference_of(live, metric)
        asked = there is not None and not more(enough, there.preferred)
        if limit and limit.increase == INCREASABLE and quota_of(live, metric) and not asked:
            found.append(_ask(live, limit, enough))
    return found


def ask_for(word: str, lines: Iterable[Line], live: Live) -> Ask:
    """The request of `METRIC[=VALUE]` in the stack's own region; without a value, for what would be enough.

    Raises ConfigError for a metric that is not there and a limit that is none to ask for, ResourceError for one that
    is asked for already, PolicyError where no increase can be had.
    """
    metric, value = parsed(word)
    lines = [line for line in lines if not line.elsewhere]
    limit, there = live.limit(metric), preference_of(live, metric)
    if limit is None:
        near = nearest(metric, [line.metric for line in lines])
        raise ConfigError(
            f"no quota {metric}",
            why="the service lists none of that name in this region",
            fix=f"did you mean {near}?" if near else "slipway quota --output json has the metrics that are drawn here",
        )
    now = f"the limit is {limit_in_words(limit.limit)}"
    if value is None and (value := _enough(lines, live).get(metric)) is None:
        raise ConfigError(f"quota {metric} suffices", why=now, fix=f"--request {word}=VALUE")
    if not more(value, limit.limit):
        what = f"{limit_in_words(value)} is no increase of {metric}"
        raise ConfigError(what, why=f"{now}; this command never lowers one", fix="a higher VALUE")
    if there and (more(there.preferred, value) or (there.preferred == value and there.reconciling)):
        what, fix = f"quota {metric} was asked for already", "wait for that, which slipway quota shows, or ask for more"
        raise ResourceError(what, why=str(became_of(there)), fix=fix)
    if limit.increase != INCREASABLE:
        fix = "ask your contact at Google, or use machines of another type or region"
        raise PolicyError(f"no increase of {metric} can be had", why=limit.increase, fix=fix)
    return _ask(live, limit, value)


def by_gcloud(project: str, line: Line, value: int, ids: Mapping[str, str] | None) -> str:
    """The command that asks for a limit in the line's region; empty where nobody knows the quota's id. `ids`: those
    that are published, by metric."""
    id_ = quota_id(line.metric, ids)
    if not id_:
        return ""
    return (
        f"gcloud beta quotas preferences create --project={project} --service={SERVICE} "
        f"--quota-id={id_} --dimensions=region={line.region} --preferred-value={value}"
    )


def _enough(lines: Iterable[Line], live: Live) -> dict[str, int]:
    """Limits that would do, by the metrics that are short at home."""
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
