"""Alternatives of a cluster that can't be had: their costs, what they lack, and the plan when one is made. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

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


@dataclass(frozen=True)
class MayBecome:
    """`lacks`: what quota would refuse, a sentence each; `unfit`: templates that fit the cluster otherwise, each with
    the reason why not so."""

    current: CurrentCluster
    lacks: tuple[str, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)

    def words(self, first: ClusterSpec, region: str) -> str:
        """`cpu-1a2b3c4 as its alternative 1, $2.10/h idle, $4.20/h at most (+$0.93/h idle)`"""
        price, usual = total((self.current.spec,), region), total((first,), region)
        more = price.floor.known - usual.floor.known
        change = f" ({signed(more)} idle)" if price.complete and usual.complete else ""
        far = f"; its jobs' data stays in {region}, and crosses regions at a price" if self.current.spec.region else ""
        return f"{self.current.id} {self.current.spec.called}, {price_in_words(price)}{change}{far}"


def may_become(
    plan: Plan, live: Live, stack: Stack, templates: Iterable[JobTemplate]
) -> Mapping[str, tuple[MayBecome, ...]]:
    """Alternatives of the clusters that are to be made, by name and in order."""
    known, found = tuple(templates), {}
    for one in plan.current:
        if one.alternatives:
            unfit = misfits(known, one.spec)
            found[one.spec.name] = tuple(
                MayBecome(other, tuple(_lacks(plan, other, live, stack)), unfit.get(other.spec.alternative, {}))
                for other in one.alternatives
            )
    return found


def _lacks(plan: Plan, other: CurrentCluster, live: Live, stack: Stack) -> Iterator[str]:
    """Quota that it lacks, which is no error: the others may be had."""
    current = tuple(other if one.spec.name == other.spec.name else one for one in plan.current)
    report = assess(current, live, region=stack.region, mode="enforce", preview=True, old=plan.old)
    yield from (one.sentence for one in report.findings if one.grade is Grade.BLOCKING)


def warnings(found: Mapping[str, tuple[MayBecome, ...]]) -> Iterator[str]:
    for name, options in found.items():
        for one in options:
            what = f"cluster {name} {one.current.spec.called}"
            yield from (f"{what} would be refused: {lacking}" for lacking in one.lacks)
            yield from (f"{what} is not for template {template}: {why}" for template, why in one.unfit.items())


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
        if one.spec.alternative and not first[one.spec.name].alternative:
            unfit = misfits(known, first[one.spec.name]).get(one.spec.alternative, {})
            without = f"; not offered on it: {join(unfit)}" if unfit else ""
            words = MayBecome(one).words(first[one.spec.name], region)
            yield f"cluster {one.spec.name} was made in another way: {words}{without}; {going_back(one.spec)}"


def going_back(spec: ClusterSpec) -> str:
    where = "in the place of this one, which goes first" if spec.replacement == IN_PLACE else "beside this one"
    return (
        f"it stays until the stack file says otherwise: take {spec.place_in_order} out of "
        f"`alternatives` of {spec.name} to have it made as asked for first, {where}"
    )
