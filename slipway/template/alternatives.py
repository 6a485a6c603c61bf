"""Which templates fit a cluster as asked for first and not as its alternatives, or the other way round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slipway.capacity import POOL
from slipway.cluster import ClusterSpec
from slipway.template.case import cases
from slipway.template.job_template import JobTemplate
from slipway.template.pool_matching import fitting_pools, mismatches
from slipway.template.proof import demands


def misfits(templates: Iterable[JobTemplate], cluster: ClusterSpec) -> Mapping[int, Mapping[str, str]]:
    """By alternative (0 is as asked for first) the templates that fit another one and not this, each with the reason.
    What fits none of them is no matter of alternatives."""
    if not cluster.alternatives:
        return {}
    found: dict[int, dict[str, str]] = {}
    for template in templates:
        for option, why in _misfits(template, cluster):
            found.setdefault(option.alternative, {}).setdefault(template.name, why)
    return found


def _misfits(template: JobTemplate, cluster: ClusterSpec) -> Iterator[tuple[ClusterSpec, str]]:
    for kind in template.kinds:
        for case in cases(template):
            if POOL not in case.capacity_types(template) or (case.variant is not None and case.variant.refusal):
                continue
            asked = demands(template, kind, case)
            unfit = [one for one in cluster.options if fitting_pools(asked, template.network, one) is None]
            if len(unfit) == len(cluster.options):
                continue
            where = f"({case}) " if case.when else ""
            for option in unfit:
                yield option, where + "; ".join(map(str, mismatches(asked, template.network, option)))
