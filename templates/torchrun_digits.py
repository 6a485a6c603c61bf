"""torchrun-digits: PyTorch on several machines, which goes on from its last checkpoint whichever of them is lost."""

from slipway.template import Disk, JobTemplate, Package, Parameter, Variant, WorkerPool

IMAGES = "us-docker.pkg.dev/vertex-ai/training"
ON_CPUS = Package("jobs/torchrun_digits", "torchrun_digits.task", f"{IMAGES}/pytorch-xla.2-4.py310:latest")
ON_GPUS = Package("jobs/torchrun_digits", "torchrun_digits.task", f"{IMAGES}/pytorch-gpu.2-4.py310:latest")


def machines(machine: str, code: Package) -> tuple[WorkerPool, ...]:
    """The chief, at which all meet, and its workers. All run the same code on equal machines, as flex-start wants."""
    options = ("least", "patience", "steps", "every", "batch", "pause", "seed")
    arguments = (*(f"--{name}=${{{name}}}" for name in options), "--output=${slipway.output}")
    disk = Disk("pd-ssd", 100)
    return (
        WorkerPool("chief", machine, disk, code=code, args=arguments),
        WorkerPool("workers", machine, disk, replicas="${workers}", code=code, args=arguments),
    )


TEMPLATE = JobTemplate(
    name="torchrun-digits",
    summary="data-parallel training with torchrun; after a lost machine it goes on from its last checkpoint",
    code=ON_CPUS,
    worker_pools=machines("n1-standard-8", ON_CPUS),
    capacity_types=("pool", "spot", "on-demand"),
    variants=(
        Variant({"machine": "g2-standard-12"}, machines("g2-standard-12", ON_GPUS), ("pool", "flex-start", "spot")),
    ),
    parameters=(
        Parameter(
            "machine",
            str,
            default="n1-standard-8",
            choices=("n1-standard-8", "g2-standard-12"),
            help="of all; g2-standard-12 has one L4",
        ),
        Parameter("workers", int, default=1, min=1, max=16, help="machines beside the chief"),
        Parameter("least", int, default=0, min=0, max=17, help="go on with so many while others are lost; 0: wait"),
        Parameter("patience", int, default=15, min=2, max=600, help="seconds until a silent machine counts as lost"),
        Parameter("steps", int, default=200, min=1, max=100_000, help="steps to train"),
        Parameter("every", int, default=20, min=1, max=10_000, help="steps between two checkpoints"),
        Parameter("batch", int, default=96, min=1, max=1024, help="digits in a step, all machines together"),
        Parameter("pause", float, default=0.0, min=0.0, max=60.0, help="seconds that a step takes longer"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same model"),
    ),
    timeout_s=3600,
    checkpoints=True,
)
