"""Alternatives of clusters that can't be had: warnings of them, and the plan and the words when one is made. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from slipway.cluster import IN_PLACE, ClusterSpec, CurrentCluster
from slipway.deployment.plan import Plan
from slipway.findings.finding import Grade
from slipway.formatting import join
from slipway.generations.dormant import DormantCluster
from slipway.live import Live
from slipway.prices import price_in_words, signed, total
from slipway.quota.assessment import assess
from slipway.season import MACHINES
from slipway.stack.stack import Stack
from slipway.template.job_template import JobTemplate
from slipway.template.proof import misfits


def warnings(plan: Plan, live: Live, stack: Stack, templates: Iterable[JobTemplate]) -> Iterator[str]:
    """Quota that the alternatives of clusters to be made lack, which is no error: others may be had; and templates that
    fit such a cluster otherwise, each with the reason why not so."""
    known = tuple(templates)
    for one in plan.current:
        unfit = misfits(known, one.spec) if one.alternatives else {}
        for other in one.alternatives:
            what = f"cluster {one.spec.name} {other.spec.called}"
            current = tuple(other if each is one else each for each in plan.current)
            report = assess(current, live, region=stack.region, mode="enforce", preview=True, old=plan.old)
            lacks = (each.sentence for each in report.findings if each.grade is Grade.BLOCKING)
            yield from (f"{what} would be refused: {lacking}" for lacking in lacks)
            for template, why in unfit.get(other.spec.alternative, {}).items():
                yield f"{what} is not for template {template}: {why}"


def as_made(plan: Plan, made: Mapping[str, str], *, last: bool = False) -> Plan:
    """The plan once its clusters run: `made` are the ids of those that do, by the ids that were to be made. At `last`
    one that its season brings and that does not run is dormant, for want of machines."""

    def settled(one: CurrentCluster) -> CurrentCluster:
        other = next((other for other in one.alternatives if made.get(one.id) == other.id), None)
        return replace(other, import_=True, state="RUNNING") if other else one

    missing = [one for one in plan.current if last and one.id in plan.seasons and one.id not in made]
    waits = (DormantCluster(one.spec, one.id, "season", lacks={MACHINES: ""}) for one in missing)
    return plan.with_clusters((settled(one) for one in plan.current if one not in missing), (*plan.dormant, *waits))


def chosen(declared: Iterable[ClusterSpec], plan: Plan) -> tuple[ClusterSpec, ...]:
    """The declared clusters as they are, or are to be made, and what is there beside them."""
    now = {one.spec.name: one.spec for one in plan.current}
    return (*(now.pop(spec.name, spec) for spec in declared), *now.values())


def absent(declared: Iterable[ClusterSpec], there: Iterable[ClusterSpec]) -> tuple[ClusterSpec, ...]:
    """Alternatives that the clusters are not."""
    now = {one.name: (one.pools, one.region) for one in there}
    return tuple(
        option for spec in declared for option in spec.options if (option.pools, option.region) != now[spec.name]
    )


def told(before: Plan, after: Plan, templates: Iterable[JobTemplate], region: str) -> Iterator[str]:
    """A sentence for each cluster that was made as an alternative. `before`: what was asked for first."""
    known, first = tuple(templates), {one.spec.name: one.spec for one in before.current}
    for one in after.current:
        spec, asked = one.spec, first[one.spec.name]
        if not spec.alternative or asked.alternative:
            continue
        price, usual = total((spec,), region), total((asked,), region)
        more = signed(price.floor.known - usual.floor.known)
        change = f" ({more} idle)" if price.complete and usual.complete else ""
        far = f"; its jobs' data stays in {region}, and crosses regions at a price" if spec.region else ""
        unfit = misfits(known, asked).get(spec.alternative, {})
        without = f"; not offered on it: {join(unfit)}" if unfit else ""
        where = "in the place of this one, which goes first" if spec.replacement == IN_PLACE else "beside this one"
        yield (
            f"cluster {spec.name} was made in another way: {one.id} {spec.called}, {price_in_words(price)}{change}{far}"
            f"{without}; it stays until the stack file says otherwise: take {spec.place_in_order} out of "
            f"`alternatives` of {spec.name} to have it made as asked for first, {where}"
        )
