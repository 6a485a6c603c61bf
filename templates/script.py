"""script: a command in any folder, on machines of one's choice: `slipway submit script --code . -p command="…"`."""

from slipway.template import ANY_RESERVATION, SCRIPT, Disk, JobTemplate, Package, Parameter, Variant, WorkerPool

IMAGES = "us-docker.pkg.dev/vertex-ai/training"
ON_CPUS = Package("jobs/script", SCRIPT, f"{IMAGES}/sklearn-cpu.1-6:latest")
ON_GPUS = Package("jobs/script", SCRIPT, f"{IMAGES}/pytorch-gpu.2-4.py310:latest")
ANYWHERE = ("pool", "on-demand", "spot")
SCARCE = ("pool", "flex-start", "on-demand", "spot", "reservation")


def runner(machine: str, code: Package) -> tuple[WorkerPool, ...]:
    """A single machine. Name the machines of your own pools below, so that the command runs there as well."""
    arguments = ("--command=${command}", "--output=${slipway.output}")
    disk = Disk("pd-ssd", 100)
    return (WorkerPool("script", machine, disk, code=code, args=arguments, reservation=ANY_RESERVATION),)


TEMPLATE = JobTemplate(
    name="script",
    summary="runs a command in your own folder: --code . -p command='python train.py'",
    code=ON_CPUS,
    worker_pools=runner("n1-standard-8", ON_CPUS),
    parameters=(
        Parameter("command", str, default="python train.py", command=True, help="what to run in the folder"),
        Parameter("data", str, default="", help="gs://BUCKET/FOLDER, or one object, to find in $SLIPWAY_DATA"),
        Parameter(
            "machine",
            str,
            default="n1-standard-8",
            choices=("n1-standard-4", "n1-standard-8", "g2-standard-12", "a2-highgpu-1g", "a3-highgpu-8g"),
            help="n1: 4 or 8 vCPUs; g2: one L4, a2: one A100, a3: eight H100",
        ),
    ),
    inputs={"data": "${data}"},
    capacity_types=ANYWHERE,
    variants=(
        Variant({"machine": "n1-standard-4"}, runner("n1-standard-4", ON_CPUS)),
        Variant({"machine": "g2-standard-12"}, runner("g2-standard-12", ON_GPUS), SCARCE),
        Variant({"machine": "a2-highgpu-1g"}, runner("a2-highgpu-1g", ON_GPUS), SCARCE),
        Variant({"machine": "a3-highgpu-8g"}, runner("a3-highgpu-8g", ON_GPUS), SCARCE),
    ),
    code_flag=True,
)
