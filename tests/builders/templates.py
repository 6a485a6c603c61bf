"""Templates, as a stack declares them and as a deployment publishes them."""

from typing import Any

from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.proof import Placement
from slipway.deploying.deployment.publication import draws, template_entry
from slipway.google.quota.report import OfferVerdict
from slipway.model.catalog.template import Template
from slipway.template import JobTemplate, Package, Parameter, WorkerPool


def job_template(**changes: Any) -> JobTemplate:
    """Return a scheduler and 2 (1 to 16) workers, on a pool or Spot."""
    parts: dict[str, Any] = {
        "name": "dask-digits",
        "summary": "digits",
        "code": Package("jobs/dask_digits", "dask_digits.task", "us-docker.pkg.dev/vertex-ai/training/image:latest"),
        "worker_pools": (
            WorkerPool("scheduler", "n1-standard-4", args=("--trees=${trees}", "--output=${slipway.output}")),
            WorkerPool("workers", "n1-standard-8", replicas="${workers}"),
        ),
        "parameters": (
            Parameter("workers", int, default=2, min=1, max=16),
            Parameter("trees", int, default=200, min=1),
        ),
        "capacity_types": ("pool", "spot"),
    }
    return JobTemplate(**{**parts, **changes})


def published_template(of: JobTemplate, offers: tuple[Placement, ...], context: CompileContext) -> Template:
    """Return a template's part of the catalog where there is quota for each offer that the stack can have."""
    verdicts = {draw.label: OfferVerdict(not draw.refusal, draw.refusal) for draw in draws(of, offers)}
    return template_entry(of, offers, verdicts, context, dict.fromkeys(of.uploaded, "packages/code.tar.gz"))
