"""A template's default submission, without parameters or flags, and its ways to run, with machines and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any

from slipway.base.formatting import join
from slipway.google.advice import SpotNeed
from slipway.google.catalog.lookup import usual_offers
from slipway.google.jobs import VertexJob
from slipway.model.capacity import FLEX_START, ON_DEMAND, PAID_ANYWAY, POOL, RESERVATION, SPOT
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import fill, names
from slipway.model.catalog.template import OF_TEAM, Offer, Rivals, Template, applying, case_in_words
from slipway.model.cluster import Reservation
from slipway.model.kinds import CUSTOM_JOB, KINDS, PIPELINE_JOB
from slipway.model.labels import TEAM
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import dollars


def taken(template: Template) -> Mapping[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for offer in usual_offers(template):
        for pool, count in _needs(offer, usual_values(template)).items():
            if pool and not offer.barred:
                counts.setdefault((offer.cluster, pool), count)
    return counts


def largest(template: Template, cluster: str, pool: str) -> int:
    """Return how many of a pool's machines a submission may need: by the maximum of each parameter that has one."""
    values = usual_values(template, "max")
    there = (offer for offer in template.offers if offer.cluster == cluster and not offer.barred)
    return max((_needs(offer, values)[pool] for offer in there), default=0)


def too_large(job: VertexJob, template: Template, most: Mapping[tuple[str, str], int]) -> bool:
    """Tell whether a job, sent again, needs more of a pool than there can be, whichever way it may take."""
    values = {**usual_values(template), **(job.parameters or {})}
    offers = applying((offer for offer in template.offers if offer.kind == job.kind.name), values, job.team)
    ways = [(offer.cluster, _needs(offer, values)) for offer in offers if offer.available]
    lacking = (any(count > most.get((on, pool), count) for pool, count in needs.items()) for on, needs in ways)
    return bool(ways) and all(lacking)


def _needs(offer: Offer, values: Mapping[str, Any]) -> Counter[str]:
    """Return how many machines of each pool a submission needs at once. A pipeline's tasks wait for each other's."""
    counts = takes(offer, values)
    return Counter(dict.fromkeys(counts, 1)) if offer.kind == PIPELINE_JOB.name else counts


def misfits(template: Template) -> bool:
    """Tell whether a template asks for a pool and fits none, or a team's machines don't: a deployment is refused."""
    fits: dict[str, bool] = {}
    for offer in (each for each in template.offers if each.capacity_type == POOL):
        fits[offer.team] = bool(offer.cluster or offer.dormant or fits.get(offer.team))
    return not all(fits.values())


def has_tasks(catalog: Catalog) -> bool:
    """Tell whether pools take tasks of pipelines, which ask for any machine that is large enough."""
    return any(offer.capacity_type == POOL and offer.kind == PIPELINE_JOB.name for offer in catalog.offers)


def takes(offer: Offer, values: Mapping[str, Any]) -> Counter[str]:
    """Return how many machines of each pool a submission takes, its concurrent trials together; of none, its own."""
    kind, filled, counts = KINDS.get(offer.kind, CUSTOM_JOB), fill(offer.request, values), Counter[str]()
    bodies = kind.spec_of(filled).get("workerPoolSpecs") or ()
    for pool, body in zip((*offer.pools, *("" for _ in bodies)), bodies, strict=False):
        count = str(body.get("replicaCount", ""))
        counts[pool] += int(count) * kind.trials(filled) if count.isdigit() else 0
    return counts


def spot_needs(catalog: Catalog) -> tuple[SpotNeed, ...]:
    """Return the Spot machines that the usual submissions of a catalog's templates ask for."""
    return tuple(
        SpotNeed.of(catalog.region_of_offer(offer), group.machine, group.count)
        for template in catalog.templates.values()
        for offer in usual_offers(template)
        if offer.capacity_type == SPOT
        for group in machines_of(offer, template)
    )


def machines_of(offer: Offer, template: Template) -> tuple[MachineGroup, ...]:
    """Return the machines of a usual submission."""
    kind = KINDS.get(offer.kind)
    return VertexJob.read(fill(offer.request, usual_values(template)), kind).machines if kind else ()


def timeout_of(template: Template) -> float:
    """Return the seconds after which the service ends a job; a week where its file does not say."""
    timeouts = (str(offer.spec.get("scheduling", {}).get("timeout", "")) for offer in template.offers)
    return float(next(filter(None, timeouts), "604800").removesuffix("s"))


def containers(offers: Iterable[Offer]) -> Iterator[Mapping[str, Any]]:
    """Yield what worker pools run where that is no package."""
    yield from (pool["containerSpec"] for offer in offers for pool in offer.worker_pools if pool.get("containerSpec"))


def account_of(offer: Offer) -> str:
    return str(offer.spec.get("serviceAccount") or "")


def machine_types(offer: Offer) -> tuple[str, ...]:
    machines = ((pool.get("machineSpec") or {}) for pool in offer.worker_pools if pool)
    return tuple(dict.fromkeys(str(machine.get("machineType", "")) for machine in machines))


DEAR = 10
"""USD an hour, some $7,300 a month, that nobody should pay unasked."""
DEFAULT_SIZE = " (default size)"
_NOUNS: Mapping[str, str] = {SPOT: "Spot", ON_DEMAND: "machines on demand", RESERVATION: "the reservation"}


def way(offer: Offer) -> str:
    noun = _NOUNS.get(offer.capacity_type, offer.capacity_type)
    if offer.capacity_type == POOL:
        noun = f"pool `{offer.cluster or offer.dormant}`" if offer.cluster or offer.dormant else "a pool"
    return f"{noun}{f' with `{offer.shape}`' if offer.shape else ''}"


def whole_way(offer: Offer, catalog: Catalog) -> str:
    """Return a way to run with whose it is: ``pool `h100` (team `vision` alone)``."""
    owners = [f"`{team}`" for team in catalog.owners(offer.cluster)]
    return f"{way(offer)} (team{'s' * bool(owners[1:])} {join(owners)} alone)" if owners else way(offer)


def is_dear(offer: Offer) -> bool:
    """Tell whether a job pays for machines of its own that cost as much as a team should know."""
    return offer.capacity_type != POOL and offer.price_per_hour.known >= DEAR


def by(offer: Offer) -> str:
    """Return the way to run, as an adverb: `on Spot`, `by flex-start`."""
    words = {ON_DEMAND: way(offer).removeprefix("machines "), FLEX_START: f"by {way(offer)}"}
    return words.get(offer.capacity_type, f"on {way(offer)}")


def whose(offers: Iterable[Offer], template: Template) -> str:
    """Return the narrowest case of parameters that holds offers: ` (model=9b)`; empty for all. Teams with machines of
    their own, and other cases in it, are excepted: ` (not of team align, except model=27b, precision=fp32)`."""
    given = list(offers)
    listed, every = ([{OF_TEAM: ("",), **offer.when} for offer in some] for some in (given, template.offers))
    shared = [name for name in (listed or [{}])[0] if all(name in case for case in listed)]
    bounds = {name: tuple(dict.fromkeys(chain(*(case[name] for case in listed)))) for name in shared}
    beyond = {name: [case for case in every if {*case.get(name, some)} - {*some}] for name, some in bounds.items()}
    narrow = {name: some for name, some in bounds.items() if beyond[name]}
    everybodys = "" in narrow.get(OF_TEAM, ()) and narrow.pop(OF_TEAM)
    teams = sorted({str(*case[OF_TEAM]) for case in beyond[OF_TEAM]}) if everybodys else []
    # A label that is new counts them for such a team from then on.
    far = " so far" * any(offer.labels.get(TEAM) in teams for offer in template.offers)
    words = [case_in_words(narrow)] * bool(narrow)
    words += [f"not of team{'s' * bool(teams[1:])} {join(teams)}{far}"] * bool(teams)
    kinds = {offer.kind for offer in given}
    alike = [(at, each) for at, each in enumerate(template.offers) if each.available and each.kind in kinds]
    beside = {place for offer in given for place in template.rivals.of(offer)}
    others = [{OF_TEAM: ("",), **each.when} for place, each in alike if place not in beside]
    within = [case for case in others if all({*case.get(name, some)} & {*some} for name, some in bounds.items())]
    apart = [{name: case[name] for name in case if case[name] not in (("",), narrow.get(name))} for case in within]
    words += [f"except {join(dict.fromkeys(map(case_in_words, apart)), 'or')}"] * bool(apart)
    return f" ({', '.join(words)})" if words else ""


def as_kind(offer: Offer, template: Template) -> str:
    """Return ` as a hyperparameter tuning job`; empty for the template's usual kind."""
    kind = KINDS.get(offer.kind)
    return f" as a {kind.words}" if kind and offer.kind != template.kind else ""


def compete(offer: Offer, other: Offer) -> bool:
    """Tell whether a submission may choose between two offers."""
    if offer.team != other.team:
        return False
    cases = (set(values) & set(other.when.get(name, values)) for name, values in offer.when.items())
    return offer.kind == other.kind and all(cases)


class Offers(dict[str, Offer]):
    """Offers by label, which stay as they are: a template may have thousands."""

    @cached_property
    def _rivals(self) -> tuple[Rivals, Sequence[str]]:
        return Rivals(self.values()), tuple(self)

    def beside(self, offer: Offer) -> Mapping[str, Offer]:
        """Return in order those between which and another one a submission may choose."""
        rivals, labels = self._rivals
        return {labels[place]: self[labels[place]] for place in rivals.of(offer)}


def served(offer: Offer, template: Template) -> bool:
    """Tell whether a template still takes values of an offer's case: others are refused, which is reported."""
    choices = {parameter.name: parameter.choices for parameter in template.parameters}
    return all(set(values) & set(choices.get(name) or values) for name, values in offer.when.items())


def cost(offer: Offer, catalog: Catalog) -> str:
    """Return `$63.92/h on Spot`, or ``only what pool `h100` grows by``: its minimum is paid anyway."""
    if offer.capacity_type == POOL:
        cluster, there = catalog.clusters.get(offer.cluster), whole_way(offer, catalog)
        pools = [each for each in cluster.pools if each.name in offer.pools] if cluster else []
        grows = cluster is None or cluster.season.idle_limit or any(each.max > each.min for each in pools)
        return f"only what {there} grows by" if grows else f"nothing beside {there}, which is paid anyway"
    if offer.capacity_type == RESERVATION:
        return "Vertex AI's fee on top of the reservation"
    price = offer.price_per_hour
    return f"{'an unknown price' if price.unknown else dollars(price, most='up to')} {by(offer)}"


def costs(offer: Offer, catalog: Catalog) -> str:
    """Return the cost of a way to run; what a parameter makes larger is told as it is by default."""
    return f"{cost(offer, catalog)}{DEFAULT_SIZE * (varies(offer) and offer.capacity_type not in PAID_ANYWAY)}"


def reserved(offer: Offer, catalog: Catalog) -> list[Reservation]:
    return [each for each in catalog.reservations.values() if each.path in reservations([offer])]


def reservations(offers: Iterable[Offer]) -> frozenset[str]:
    """Return the full names of the reservations that offers take machines from."""
    pools = (pool for offer in offers for pool in offer.worker_pools)
    affinities = (pool.get("machineSpec", {}).get("reservationAffinity", {}) for pool in pools)
    return frozenset(str(path) for affinity in affinities for path in affinity.get("values", ()))


def fits_reservation(
    offer: Offer, listed: Mapping[str, Reservation], values: Mapping[str, Any], now: datetime | None = None
) -> bool:
    """Tell whether an offer's reservation has machines for a submission of these parameters, now or at its dates."""
    from slipway.model.rules.table import check

    if offer.capacity_type != RESERVATION:
        return True
    request = fill(offer.request, values)
    breaches = check(offer.kind, offer.capacity_type, request, reserved=listed, now=now)
    # What sending fills in may be anything yet.
    return all("${" in breach.text for breach in breaches)


def over(offer: Offer, catalog: Catalog, at: datetime) -> bool:
    """Tell whether the reservation or the cluster of a way to run has ended by then."""
    ends = [each.ends for each in reserved(offer, catalog)]
    ends += [each.season.ends for each in catalog.clusters.values() if each.name == offer.cluster]
    return any(end <= at for end in ends if end)


def varies(offer: Offer) -> bool:
    """Tell whether a parameter makes a job larger than its price says, which is that of the defaults."""
    counts = [pool.get("replicaCount") for pool in offer.worker_pools]
    return any(names(str(count)) for count in (*counts, offer.request.get("parallelTrialCount")))


Way = tuple[Template, Offer, Sequence[Offer]]
"""An offer on a cluster, with the other ways to run the same jobs."""


def ways_without(catalog: Catalog, name: str) -> Iterator[Way]:
    """Yield the ways of a cluster, also of a dormant one."""
    for template in catalog.templates.values():
        ways = [each for each in template.offers if each.kind == template.kind]
        there = [each for each in ways if (each.cluster == name and each.available) or each.dormant == name]
        for offer in there:
            yield (
                template,
                offer,
                [each for each in ways if each.available and each not in there and compete(each, offer)],
            )


def takes_sessions_alone(ways: Iterable[Way], catalog: Catalog) -> bool:
    """Tell whether sessions may run on the cluster of these ways, and nowhere else."""
    names = {pool.partition("/")[0] for pool in (catalog.sessions and catalog.sessions.pools) or ()}
    alone = [template for template, offer, _ in ways if names == {offer.cluster or offer.dormant}]
    return any(template in alone for template in scripts(catalog))


def scripts(catalog: Catalog) -> list[Template]:
    taking_code = [template for template in catalog.templates.values() if template.takes_code]
    if not taking_code:
        return []
    # Needed only where people may bring code: importing it costs time.
    from slipway.authoring.packages.packing import runs_any_folder

    return [template for template in taking_code if runs_any_folder(template)]


def secret_in(reference: str) -> str:
    """Return the name in `projects/P/secrets/NAME/versions/1`; empty for a reference to no secret."""
    return reference.partition("/secrets/")[2].partition("/")[0]


def secrets_of(offers: Iterable[Offer]) -> Iterator[str]:
    yield from (secret_in(value) or value for name, value in variables(offers) if name.endswith("__SECRET"))


def variables(offers: Iterable[Offer]) -> Iterator[tuple[str, str]]:
    for offer in offers:
        for pool in offer.worker_pools:
            code = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
            yield from ((str(each.get("name")), str(each.get("value"))) for each in code.get("env") or ())


def rounds(template: Template, kind: str = "") -> Decimal:
    """Return how often a submission takes its machines, one time after another, the last time some of them; 1 for a job
    without trials."""
    study, known = template.study, KINDS.get(kind or template.kind)
    if study is None or known is None or not known.has_trials:
        return Decimal(1)
    total, at_once = (whole(count, template) or 1 for count in (study.max_trials, study.parallel_trials))
    return max(Decimal(total) / at_once, Decimal(1))


def whole(value: object, template: Template) -> int | None:
    """Return a number, or the default of the parameter that stands for it."""
    text = str(fill(value, usual_values(template)))
    return int(text) if text.isdigit() else None


def usual_values(template: Template, end: str = "") -> Mapping[str, Any]:
    """Return each parameter's default, or another value that it may have; `end`: its `min` or `max` if it has one."""
    values: dict[str, Any] = {}
    for each in template.parameters:
        least = each.min if each.min is not None else 1 if each.kind.number else ""
        values[each.name] = each.default if each.default is not None else each.choices[0] if each.choices else least
        bound = {"min": each.min, "max": each.max}.get(end)
        if bound is not None and not each.kind.item:
            values[each.name] = each.kind.python(bound)
    return values
