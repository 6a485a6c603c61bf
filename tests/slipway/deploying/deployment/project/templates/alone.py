"""alone: one machine, on Spot first."""

from slipway.template import Disk, Image, JobTemplate, WorkerPool

TEMPLATE = JobTemplate(
    name="alone",
    summary="",
    code=Image(f"example/alone@sha256:{'0' * 64}"),
    worker_pools=(WorkerPool("main", "n1-standard-4", Disk("pd-ssd", 100)),),
    capacity_types=("spot", "pool"),
)
