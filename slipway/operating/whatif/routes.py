"""The routes of past submissions: the capacity types and regions that each may take in a replay, and how long it waits
for machines of its own there. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from slipway.model.capacity import WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template, applying
from slipway.model.labels import label_value
from slipway.operating.history.model import PastJob
from slipway.operating.history.waits import WaitCurve
from slipway.operating.whatif.delays import ASSUMED
from slipway.operating.whatif.model import Route
from slipway.operating.whatif.submissions import PastSubmission
from slipway.using.submission.raced import in_regions

_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Routes:
    """The routes of a catalog's templates in some regions."""

    catalog: Catalog
    #: The stack's own first.
    regions: tuple[str, ...]
    #: Other regions of templates than the published ones, by name.
    of_templates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def differ(self) -> bool:
        """Tell whether they are not those that are deployed."""
        moved = (self._here(each).regions != (each.regions or ()) for each in self.catalog.templates.values())
        return {*self.regions} != {*self.catalog.regions} or any(moved)

    @cached_property
    def _templates(self) -> Mapping[str, Template]:
        return {label_value(name): template for name, template in self.catalog.templates.items()}

    def of(self, job: PastJob) -> tuple[Route, ...]:
        """Return the capacity types of the job's case of its template, in order, each with its wait; the job's own
        where the template is gone, or no longer has it. Of a race these are its regions."""
        template = self._templates.get(job.template)
        if job.race:
            return tuple(self._route(job.capacity_type, region) for region in self._race(job, template))
        waits: dict[Route, float | None] = {}
        own = self.own(job)
        for offer in self._offers(job, template) if template else ():
            route = self._route(offer.capacity_type, offer.region)
            if offer.cluster or offer.dormant or offer.available or route.label == own.label:
                waits.setdefault(route, offer.wait)
        left = own.region not in ("", *self.regions)
        if not waits or not (left or any(route.label == own.label for route in waits)):
            return (replace(own, region="") if left else own,)
        *_, last = waits
        return tuple(
            replace(route, wait=wait if route != last or route.capacity_type in WAIT_BY_THEMSELVES else None)
            for route, wait in waits.items()
        )

    def own(self, job: PastJob) -> Route:
        """Return the route by which a job ran."""
        if job.cluster_id:
            return Route(job.capacity_type, cluster=job.cluster)
        return self._route(job.capacity_type, job.region)

    def _route(self, capacity_type: str, region: str) -> Route:
        return Route(capacity_type, region="" if region == self.catalog.region else region)

    def _offers(self, job: PastJob, template: Template) -> tuple[Offer, ...]:
        """Return the offers of the case that the job's parameters and team choose; by the defaults where it has
        recorded none. A sweep stays at home."""
        values = {parameter.name: parameter.default for parameter in template.parameters} | dict(job.parameters or {})
        offers = applying((offer for offer in template.offers if offer.kind == job.kind), values, job.team)
        return offers if job.sweep else in_regions(self.catalog, self._here(template), offers)

    def _here(self, template: Template) -> Template:
        regions = self.of_templates.get(template.name, template.regions or ())
        return replace(template, regions=tuple(region for region in regions if region in self.regions))

    def _race(self, job: PastJob, template: Template | None) -> tuple[str, ...]:
        """Return the regions of a race: those that it had, or the stack's or template's, where it had all of these."""
        home, deployed = self.catalog.region, self.catalog.regions
        usual = self.regions
        if template and template.regions:
            deployed = (home, *template.regions)
        if template and (its_own := self._here(template).regions):
            usual = (home, *its_own)
        if {*job.race} != {*deployed}:
            usual = tuple(region for region in job.race if region in self.regions)
        if job.region in usual:  # The others that it had were slower.
            usual = tuple(region for region in usual if region == job.region or region not in job.race)
        return usual or (home,)


class WaitsBeside:
    """Waits for machines beside the pools. A job that ran so before waits as it did; others take the waits of earlier
    ones, spread evenly over them, so that the same is drawn each time. One that was given up waits longer than that."""

    def __init__(self, submissions: Iterable[PastSubmission], region: str, until: datetime) -> None:
        self._region, self._until = region, until
        seen: dict[tuple[str, str, frozenset[str]], list[tuple[float, bool]]] = defaultdict(list)
        for submission in submissions:
            for job in submission.jobs:
                if not job.cluster_id:
                    wait = self._waited(job), job.started is None
                    for machines in (job.machine_types, frozenset[str]()):
                        seen[job.capacity_type, job.region, machines].append(wait)
        self._curves = {key: WaitCurve.of(waits) for key, waits in seen.items()}

    def known(self, route: Route) -> bool:
        return bool(self._curve(route).waits)

    def of(self, submission: PastSubmission, route: Route, number: int) -> float | None:
        """Return the seconds that a submission waits by a route, None where nobody knows."""
        place = route.capacity_type, route.region or self._region
        own = [job for job in submission.jobs if (job.capacity_type, job.region) == place]
        if started := [job for job in own if job.started]:
            return self._waited(submission.ran if submission.ran in started else started[0])
        if not self.known(route) and not route.region and not own:
            return ASSUMED.scale_up
        alike = self._curve(route, submission.ran.machine_types)
        curve = alike if alike.waits else self._curve(route)
        return curve.drawn(number * _GOLDEN % 1, least=max(map(self._waited, own), default=0.0))

    def _curve(self, route: Route, machines: frozenset[str] = frozenset()) -> WaitCurve:
        return self._curves.get((route.capacity_type, route.region or self._region, machines), WaitCurve())

    def _waited(self, job: PastJob) -> float:
        """Return the seconds until a job's start; until it was given up, where it has not started."""
        end = job.started or job.ended or self._until
        return max(0.0, (end - (job.created or end)).total_seconds())
