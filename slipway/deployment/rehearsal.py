"""What would be published of one template, as far as the stack file tells: for who checks it without the engine."""

from __future__ import annotations

from slipway.cluster import CurrentCluster
from slipway.deployment.publication import catalog_of, compile_context, readable, template_entry
from slipway.labels import Revision
from slipway.quota.report import OfferVerdict
from slipway.stack.stack import Stack
from slipway.template.job_template import JobTemplate
from slipway.template.proof import prove

_REVISION = Revision("unknown", dirty=False)


def rehearse(template: JobTemplate, stack: Stack) -> None:
    """Raises the ConfigError that a preview would raise for this template, whatever lives in the cloud."""
    placements = prove(template, stack.clusters, region=stack.region, reservations=stack.reservations)
    current = tuple(CurrentCluster(one, f"{one.name}-0000000", "0000000", import_=False) for one in stack.clusters)
    context = compile_context(stack, _REVISION, current)
    verdicts = {one.label: OfferVerdict(available=True) for one in placements}
    packages = dict.fromkeys(template.packages, "packages/code.tar.gz")
    entry = template_entry(template, placements, verdicts, context, packages)
    readable(catalog_of(context, stack, current, (), _REVISION, {template.name: entry}))
