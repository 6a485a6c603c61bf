"""A template's default submission, without parameters or flags: its machines and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slipway.google.catalog.lookup import usual_offers
from slipway.model.capacity import FLEX_START, ON_DEMAND, POOL, RESERVATION, SPOT
from slipway.model.catalog.model import Offer, Parameter, Template
from slipway.model.catalog.placeholders import fill
from slipway.model.kinds import KINDS
from slipway.model.prices import dollars


def taken(template: Template) -> Mapping[tuple[str, str], tuple[int, Offer]]:
    """Return by cluster and pool how many of its machines the template takes, and by which offer."""
    largest: dict[tuple[str, str], tuple[int, Offer]] = {}
    for offer in usual_offers(template):
        of_offer: Counter[str] = Counter()
        for pool, body in zip(offer.pools, worker_pools(offer, template), strict=False):
            of_offer[pool] += whole(body.get("replicaCount"), template) or 0
        for pool, count in of_offer.items():
            if pool:
                largest.setdefault((offer.cluster, pool), (count, offer))
    return largest


def largest(template: Template, cluster: str, pool: str) -> int:
    """Return how many of a pool's machines a submission may ask for."""
    bounded = {parameter.name: parameter.max for parameter in template.parameters if parameter.max is not None}
    most = {**_values(template), **bounded}
    asked = [0]
    for offer in template.offers:
        if offer.cluster == cluster:
            bodies = zip(offer.pools, fill(job_spec(offer).get("workerPoolSpecs", []), most), strict=False)
            counts = [str(body.get("replicaCount", "")) for name, body in bodies if name == pool]
            asked.append(sum(int(count) for count in counts if count.isdigit()))
    return max(asked)


def worker_pools(offer: Offer, template: Template) -> list[Mapping[str, Any]]:
    spec = job_spec(offer)
    filled = fill(spec.get("workerPoolSpecs", []), _values(template))
    return list(filled) if isinstance(filled, list) else []


def job_spec(offer: Offer) -> Mapping[str, Any]:
    """Return the CustomJobSpec of the request; empty for a kind unknown to this version."""
    kind = KINDS.get(offer.kind)
    return kind.spec_of(offer.request) if kind else {}


def machine_types(offer: Offer) -> tuple[str, ...]:
    pools = job_spec(offer).get("workerPoolSpecs") or ()
    return tuple(dict.fromkeys(str((pool.get("machineSpec") or {}).get("machineType", "")) for pool in pools if pool))


_NOUNS: Mapping[str, str] = {SPOT: "Spot", ON_DEMAND: "machines on demand", RESERVATION: "the reservation"}


def way(offer: Offer) -> str:
    """Return the way to run, as a noun: `Spot`, ``pool `h100` ``."""
    if offer.capacity_type == POOL:
        return f"pool `{offer.cluster or offer.dormant}`"
    return _NOUNS.get(offer.capacity_type, offer.capacity_type)


def by_hour(offer: Offer) -> str:
    """Return ``$2.53/h on Spot``, ``nothing more while pool `h100` has room``: a pool is paid, used or not."""
    if offer.capacity_type == POOL:
        return f"nothing more while {way(offer)} has room"
    if offer.price_per_hour.unknown:
        price = "Vertex AI's fee alone" if offer.capacity_type == RESERVATION else "an unknown price"
        return f"{price} {by(offer)}"
    return f"{dollars(offer.price_per_hour, most='up to')} {by(offer)}"


def instead(cost: str, old: Offer) -> str:
    """Return ``$4.28/h on demand instead of $2.53/h on Spot``; what a pool costs is paid beside."""
    if old.capacity_type == POOL:
        return f"{cost} on top of the pool"
    return f"{cost} instead of {by_hour(old)}"


def by(offer: Offer) -> str:
    """Return the way to run, as an adverb: `on Spot`, `by flex-start`."""
    words = {ON_DEMAND: "on demand", FLEX_START: "by flex-start"}
    return words.get(offer.capacity_type, f"on {way(offer)}")


def secret_in(reference: str) -> str:
    """Return the name in `projects/P/secrets/NAME/versions/1`; empty for a reference to no secret."""
    return reference.partition("/secrets/")[2].partition("/")[0]


def secrets_of(offers: Iterable[Offer]) -> Iterator[str]:
    """Yield the names of the secrets that jobs of offers read."""
    yield from (secret_in(value) or value for name, value in variables(offers) if name.endswith("__SECRET"))


def variables(offers: Iterable[Offer]) -> Iterator[tuple[str, str]]:
    for offer in offers:
        for pool in job_spec(offer).get("workerPoolSpecs") or ():
            code = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
            yield from ((str(each.get("name")), str(each.get("value"))) for each in code.get("env") or ())


def rounds(template: Template, kind: str = "") -> int:
    """Return how often a submission takes its machines, one time after another; 1 for a job without trials."""
    study, known = template.study, KINDS.get(kind or template.kind)
    if study is None or known is None or not known.has_trials:
        return 1
    total, at_once = (whole(count, template) or 1 for count in (study.max_trials, study.parallel_trials))
    return -(-total // at_once)


def whole(value: object, template: Template) -> int | None:
    """Return a number, or the default of the parameter that stands for it."""
    text = str(fill(value, _values(template)))
    return int(text) if text.isdigit() else None


def _values(template: Template) -> Mapping[str, Any]:
    return {parameter.name: _usual(parameter) for parameter in template.parameters}


def _usual(parameter: Parameter) -> Any:
    if parameter.default is not None:
        return parameter.default
    if parameter.choices:
        return parameter.choices[0]
    return parameter.min if parameter.min is not None else 1 if parameter.kind.number else ""
