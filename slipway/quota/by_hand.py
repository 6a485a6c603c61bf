"""Quota that a person asks for by hand: what to send for `METRIC=VALUE`, or for all that is short. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from slipway.cloud.quotas import SERVICE, QuotaPreference
from slipway.errors import ConfigError, PolicyError, ResourceError
from slipway.formatting import nearest
from slipway.live import INCREASABLE, UNLIMITED, Live, QuotaLimit, Unknown
from slipway.quota.increases import preference_id, preference_of, quota_of, requested
from slipway.quota.metrics import PREFIX, quota_id
from slipway.quota.report import Line
from slipway.quota.request import lacks, more


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
        limit = int(value.replace(",", "")) if given else None
    except ValueError as problem:
        raise ConfigError(
            f"invalid --request {word}", why=f"{value!r} is not a number", fix=f"--request {name}=16, for example"
        ) from problem
    return metric, limit


def all_short(lines: Iterable[Line], live: Live) -> list[Ask]:
    """What is short now or at most and can be raised, where no request for as much is there already. In the stack's
    own region: what is elsewhere is an alternative, and may be left out."""
    enough: dict[str, int] = {}
    for line in (one for one in lines if not one.elsewhere):
        limit = _limits(live).get(line.metric)
        if limit and lacks(limit, line.enough) and limit.increase == INCREASABLE and quota_of(live, line.metric):
            enough[line.metric] = max(line.enough, enough.get(line.metric, 0))
    found = ((metric, value, preference_of(live, metric)) for metric, value in enough.items())
    return [
        _ask(live, metric, value) for metric, value, there in found if there is None or more(value, there.preferred)
    ]


def ask_for(word: str, lines: Iterable[Line], live: Live) -> Ask:
    """What `METRIC[=VALUE]` asks for in the stack's own region; without a value, what would be enough.

    Raises ConfigError for a metric that is not there and a limit that is none to ask for, ResourceError for one that
    is asked for already, PolicyError where no increase can be had.
    """
    metric, value = parsed(word)
    lines = [line for line in lines if not line.elsewhere]
    limit, there = _limits(live).get(metric), preference_of(live, metric)
    if limit is None:
        near = nearest(metric, [line.metric for line in lines])
        raise ConfigError(
            f"no quota {metric}",
            why="the service lists none of that name in this region",
            fix=f"did you mean {near}?" if near else "slipway quota --output json has the metrics that are drawn here",
        )
    if value is None:
        value = max((line.enough for line in lines if line.metric == metric and lacks(limit, line.enough)), default=0)
        if not value:
            raise ConfigError(
                f"quota {metric} suffices", why=f"the limit is {_words(limit.limit)}", fix=f"--request {word}=VALUE"
            )
    if not more(value, limit.limit):
        raise ConfigError(
            f"{'no limit' if value == UNLIMITED else f'a limit of {value:,}'} is no increase of {metric}",
            why=f"the limit is {_words(limit.limit)}; this command never lowers one",
            fix="a higher VALUE",
        )
    if there and (more(there.preferred, value) or (there.preferred == value and there.reconciling)):
        raise ResourceError(
            f"quota {metric} was asked for already",
            why=str(requested(live, metric, value)),
            fix="wait for that, or ask for more than that: slipway quota shows what becomes of it",
        )
    if limit.increase != INCREASABLE:
        raise PolicyError(
            f"no increase of {metric} can be had",
            why=limit.increase,
            fix="ask your contact at Google, or use machines of another type or region",
        )
    return _ask(live, metric, value)


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


def _ask(live: Live, metric: str, value: int) -> Ask:
    limit, there, quota = _limits(live)[metric], preference_of(live, metric), quota_of(live, metric)
    new = QuotaPreference(preference_id(quota, limit.region), quota, limit.region, value)
    return Ask(metric, limit.limit, replace(there, preferred=value) if there else new)


def _limits(live: Live) -> dict[str, QuotaLimit]:
    return {} if isinstance(live.limits, Unknown) else dict(live.limits)


def _words(limit: int) -> str:
    return "none" if limit == UNLIMITED else f"{limit:,}"
