"""gemma2-lora: LoRA fine-tuning of Gemma 2; model and accelerator choose the machine and where it comes from."""

from slipway.template import Disk, JobTemplate, ModelUpload, Package, Parameter, Variant, WorkerPool

SMALL, MIDDLE, HUGE = ("2b", "2b-it"), ("9b", "9b-it"), ("27b", "27b-it")
LARGE = (*SMALL, *MIDDLE, *HUGE)
FEWER = ("8bit", "4bit")
GPUS = ("L4", "A100", "A100_80GB", "H100")
SCARCE = ("flex-start", "pool", "spot")


def tuner(machine: str, disk_gb: int = 500) -> tuple[WorkerPool, ...]:
    """A machine with all its GPUs. The disk holds the weights as the hub has them: 110 GB of 27b, in 32 bits."""
    what = ("model", "base", "precision", "data", "split", "column")
    how = ("steps", "every", "batch", "length", "rank", "learning_rate", "seed")
    arguments = tuple(f"--{name.replace('_', '-')}=${{{name}}}" for name in (*what, *how))
    told = ("--kind=${slipway.kind}", "--output=${slipway.output}")
    return (WorkerPool("tuner", machine, Disk("pd-ssd", disk_gb), args=(*arguments, *told)),)


TEMPLATE = JobTemplate(
    name="gemma2-lora",
    summary="LoRA fine-tuning of Gemma 2 (2b, 9b, 27b) on a text or a chat, on one machine with all of its GPUs",
    code=Package(
        folder="jobs/gemma2_lora",
        module="gemma2_lora.task",
        image="us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:latest",
    ),
    worker_pools=tuner("g2-standard-12"),
    kinds=("custom-job", "training-pipeline"),
    # The whole model, as a training pipeline alone writes it, behind vLLM: on one GPU that holds it.
    model=ModelUpload(
        display_name="gemma-2-${model}-lora",
        description="Gemma 2 ${model} with the adapter of ${slipway.job}",
        serving_image="us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/"
        "pytorch-vllm-serve:20250116_0916_RC00",
        serving_args=(
            "python",
            "-m",
            "vllm.entrypoints.api_server",
            "--host=0.0.0.0",
            "--port=8080",
            "--model=$(AIP_STORAGE_URI)",
            "--max-model-len=4096",
        ),
        serving_port=8080,
        predict_route="/generate",
        health_route="/ping",
        shared_memory_mb=16_384,
    ),
    parameters=(
        Parameter(
            "model",
            str,
            default="2b",
            choices=(*LARGE, "tiny"),
            help="-it: tuned to instructions, for chats; tiny: random weights, on CPUs",
        ),
        Parameter(
            "accelerator",
            str,
            default="auto",
            choices=("auto", *GPUS),
            help="auto: L4 for 2b, A100 for 9b, H100 for 27b, none for tiny",
        ),
        Parameter("base", str, default="", help="other weights: gs://BUCKET/FOLDER, or a repository of the hub"),
        Parameter(
            "precision",
            str,
            default="16bit",
            choices=("16bit", "8bit", "4bit"),
            help="of the base's weights; fewer bits by bitsandbytes, on GPUs",
        ),
        Parameter(
            "data",
            str,
            default="",
            help="text or JSONL, gs://BUCKET/FILE, or a dataset of the hub, OWNER/NAME; sonnets when left out",
        ),
        Parameter("split", str, default="train", help="of a dataset of the hub: what its files are called"),
        Parameter("column", str, default="text", help="of records: the field to train on, where it is not messages"),
        Parameter("steps", int, default=100, min=1, max=1_000_000, help="optimizer steps"),
        Parameter("every", int, default=20, min=1, max=100_000, help="steps between two checkpoints"),
        Parameter("batch", int, default=0, min=0, max=256, help="rows of a step, on each GPU; 0: 4096 tokens"),
        Parameter("length", int, default=256, min=16, max=8192, help="tokens in a row: records share it"),
        Parameter("rank", int, default=16, min=1, max=256, help="rank of the adapters"),
        Parameter("learning_rate", float, default=0.0, min=0.0, max=1.0, help="0: what suits the model"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same start"),
    ),
    capacity_types=("spot", "flex-start", "on-demand"),
    # Those that share a machine are named together: each line is one case, which `slipway templates show` lists.
    variants=(
        Variant({"model": LARGE, "accelerator": "A100_80GB"}, tuner("a2-ultragpu-1g")),
        Variant({"model": HUGE, "accelerator": ("auto", "H100")}, tuner("a3-highgpu-8g"), SCARCE),
        Variant({"model": HUGE, "accelerator": "A100", "precision": FEWER}, tuner("a2-highgpu-1g")),
        Variant(
            {"model": HUGE, "accelerator": ("L4", "A100")},
            refusal="27b has 54.5 GB of weights, which each GPU must hold: take A100_80GB or H100, "
            "or A100 with precision=4bit",
        ),
        Variant({"model": (*SMALL, *MIDDLE), "accelerator": "H100"}, tuner("a3-highgpu-8g"), SCARCE),
        Variant({"model": MIDDLE, "accelerator": ("auto", "A100")}, tuner("a2-highgpu-1g")),
        Variant({"model": MIDDLE, "accelerator": "L4", "precision": FEWER}, tuner("g2-standard-12")),
        Variant(
            {"model": MIDDLE, "accelerator": "L4"},
            refusal="9b has 18.5 GB of weights, an L4 24 GB: take A100, or precision=4bit",
        ),
        Variant({"model": SMALL, "accelerator": "A100"}, tuner("a2-highgpu-1g")),
        Variant({"model": "tiny", "accelerator": "auto"}, tuner("n1-standard-8", 100), ("pool", "spot")),
        Variant(
            {"model": "tiny", "accelerator": GPUS}, refusal="tiny is for CPUs: take accelerator=auto, or another model"
        ),
    ),
    secrets={"HF_TOKEN": "hf-token"},
    code_flag=True,
    checkpoints=True,
)
