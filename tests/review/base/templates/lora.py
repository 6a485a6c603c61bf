"""lora: fine-tuning of a language model; the model's size chooses the machine."""

from slipway.template import Disk, JobTemplate, Package, Parameter, Variant, WorkerPool

ARGS = (
    "--model=${model}",
    "--steps=${steps}",
    "--rank=${rank}",
    "--precision=${precision}",
    "--output=${slipway.output}",
)

TEMPLATE = JobTemplate(
    name="lora",
    summary="LoRA fine-tuning of a language model on one machine",
    code=Package("jobs/lora", "lora.task", "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:20260901"),
    worker_pools=(WorkerPool("tuner", "a2-highgpu-1g", Disk("pd-ssd", 200), args=ARGS),),
    parameters=(
        Parameter("model", str, default="9b", choices=("9b", "27b"), help="size of the model"),
        Parameter("steps", int, default=100, min=1, max=100_000, help="optimizer steps"),
        Parameter("rank", int, default=16, min=1, max=256, help="rank of the adapters"),
        Parameter("precision", str, default="bf16", choices=("bf16", "fp32"), help="of the weights"),
    ),
    capacity_types=("spot", "flex-start", "on-demand"),
    variants=(
        Variant(
            {"model": "27b"},
            (
                WorkerPool(
                    "tuner",
                    "a3-highgpu-8g",
                    Disk("pd-ssd", 500),
                    args=ARGS,
                    reservation="bought",
                ),
            ),
            ("pool", "reservation", "spot"),
        ),
    ),
    secrets={"HF_TOKEN": "hf-token"},
    env={"NCCL_DEBUG": "WARN"},
    waits={"flex-start": 7200},
    timeout_s=86_400,
    checkpoints=True,
)
