"""crew: two roles, on machines of two types."""

from slipway.template import Disk, Image, JobTemplate, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="crew",
    summary="",
    code=Image(f"example/crew@sha256:{'0' * 64}"),
    worker_pools=(
        WorkerPool("head", "n1-standard-4", Disk("pd-ssd", 100)),
        WorkerPool("workers", "n1-standard-8", Disk("pd-ssd", 100), replicas="${workers}"),
    ),
    parameters=(Parameter("workers", int, default=2, min=1, max=16),),
    capacity_types=("pool", "spot"),
)
