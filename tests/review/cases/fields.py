"""Fields of a template whose edit ends otherwise than it reads: in an upload, in a study, in another place."""

from tests.review.case import (
    BUSY,
    LARGE,
    Case,
    Edit,
    Job,
    World,
    hurts,
    imports,
    more,
    silent,
    stack,
    stops,
    tells,
    template,
)

RESTARTED = "scheduling=Scheduling(restart_job_on_worker_restart=True)"
UPLOAD = '"us-docker.pkg.dev/acme-ml/serve@sha256:' + "a" * 64 + '"'
UPLOADING = f'kinds=("training-pipeline", "custom-job"), model=ModelUpload("judge", {UPLOAD})'
UPLOADS = (imports("evals", "ModelUpload"), more("evals", UPLOADING))
VARIANT = '    variants=(\n        Variant(\n            {"model": "27b"},'
LARGE_ONES = """            (
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
"""
REFUSED = 'Variant({"model": "9b", "precision": "fp32"}, refusal="9b in fp32 needs more than 40 GB")'
SEARCH = 'Search("depth", "integer", min=2, max=16)'
LISTED = """Search(
            "depth",
            "discrete",
            values=(2, 4, 8),
            conditions=(Condition((8,), (Search("width", "integer", min=1, max=4),)),),
        )"""
WIDE = '''"""wide: the search, on machines of its own."""

from slipway.template import Disk, JobTemplate, Package, WorkerPool

TEMPLATE = JobTemplate(
    name="wide",
    summary="the search, on machines of its own",
    code=Package("jobs/lora", "lora.task", "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:20260901"),
    worker_pools=(WorkerPool("one", "a3-highgpu-8g", Disk("pd-ssd", 500), args=("--output=${slipway.output}",)),),
    capacity_types=("on-demand",),
    timeout_s=86_400,
)
'''

CASES = (
    Case(
        "All results are written into one folder, and half of a machine's memory is taken away",
        (
            template("digits", "--output=${slipway.output}", "--output=gs://acme-results/digits"),
            template("evals", '"n1-standard-8"', '"n1-standard-4"'),
        ),
        (
            stops("arguments-changed", "digits", "one place for all", "overwrites the one before"),
            hurts("machines-changed", "evals", "run on `n1-standard-4` instead", "what fits into memory"),
        ),
        may=("run-cost",),
        accident="runs that wrote over each other's results",
    ),
    Case(
        "A GPU that nothing may use, two smaller ones in the place of one, and code that sees the first alone",
        (
            template("evals", '"n1-standard-8"', '"a2-highgpu-1g"'),
            template("lora", '"a2-highgpu-1g"', '"g2-standard-24"'),
            template("lora", '{"NCCL_DEBUG": "WARN"}', '{"NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "0"}'),
        ),
        (
            hurts("machines-changed", "evals", "paid for nothing"),
            hurts("run-cost", "evals", "2.51"),
            hurts("machines-changed", "lora", "instead of `a2-highgpu-1g`", "what fits into memory"),
            hurts("environment-changed", "CUDA_VISIBLE_DEVICES", "what reads it"),
        ),
        may=("run-cost",),
        accident="GPUs that were paid for and idle",
    ),
    Case(
        "A secret is read under another name, and values that nobody has sent are refused",
        (
            template("lora", '"HF_TOKEN": "hf-token"', '"HUB_TOKEN": "hf-token"'),
            template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),
        ),
        (
            stops("secrets-changed", "lora", "HF_TOKEN", "fails"),
            tells("secrets-changed", "lora", "jobs of their account read it before"),
            hurts("bounds-narrowed", "lora", "precision=fp32", "refused when they are submitted"),
        ),
        accident="a token that code looked for under its old name",
    ),
    Case(
        "Large models are refused until further notice, while one runs",
        (
            template(
                "lora", LARGE_ONES, '            refusal="27b is closed until the evaluation is done",\n        ),\n'
            ),
        ),
        (
            stops("bounds-narrowed", "lora", "unfinished ones go on", "by ada had such values"),
            stops("pool-unused", "h100/workers", "no template both fits it", "take it out"),
            stops("reservation-paid", "bought"),
        ),
        world=BUSY,
        never=("instead of", "are offered", "would fit it"),
        accident="machines that were paid for and that nobody could use",
    ),
    silent(
        "A refusal in other words",
        template("lora", "9b in fp32 needs more than 40 GB", "40 GB are too few"),
        given=(template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),),
    ),
    silent("A bound is written as a power", template("lora", "max=256", "max=2**8")),
    silent("A timeout is written as a product", template("lora", "86_400", "24 * 3600")),
    Case(
        "Jobs that had machines of their own try a pool first, which others share, and may run an hour",
        (
            template("evals", '("spot", "on-demand")', '("pool", "spot", "on-demand")'),
            template("lora", "86_400", "3600"),
        ),
        (
            hurts("offer-added", "evals", "before Spot"),
            tells("run-cost", "evals", "nothing more"),
            stops("timeout-changed", "lora", "`tune-27b-x1` (ada) ran longer"),
        ),
        may=("run-cost",),
        world=World(jobs=(LARGE,)),
        never=("more than 3 h 12 min",),
        accident="a search that waited for others' jobs",
    ),
    Case(
        "Values that were refused together may be submitted",
        (template("lora", f"        {REFUSED},\n", ""),),
        (tells("bounds-widened", "lora", "precision=fp32", "its file refused them"),),
        given=(template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),),
    ),
    Case(
        "A whole number may be a fraction from now on",
        (template("evals", "int, default=8, min=1, max=512", "float, default=8.0, min=1, max=512"),),
        (hurts("parameter-type", "evals parameter batch", "code that reads a whole number may fail"),),
        accident="a program that could not read `8.0`",
    ),
    Case(
        "A role gets another name, and logs are printed as they come",
        (
            template("evals", 'WorkerPool("judge"', 'WorkerPool("referee"'),
            template("lora", '{"NCCL_DEBUG": "WARN"}', '{"NCCL_DEBUG": "WARN", "PYTHONUNBUFFERED": "1"}'),
        ),
        (
            tells("request-changed", "evals", "--role"),
            tells("environment-changed", "lora", "what the log has"),
        ),
    ),
    Case(
        "A study searches some values of a list, one thing more beside one of them, in more trials than its pool holds",
        (template("tune", SEARCH, LISTED), template("tune", "max=4,", "max=40,"), imports("tune", "Condition")),
        (
            tells("bounds-widened", "tune parameter parallel", "up to 40"),
            hurts("study-changed", "tune", "values 2 4 8", "width", "other trials are tried"),
        ),
        accident="a job that waited for machines that could never come",
    ),
    Case(
        "An input is copied from another bucket, and another template has its first one",
        (
            template("digits", "gs://acme-data/digits", "gs://acme-new/digits"),
            more("tune", 'inputs={"data": "gs://acme-data/digits"}'),
        ),
        (
            hurts("arguments-changed", "digits", "copy input `data` from `gs://acme-new/digits`", "other results"),
            hurts("arguments-changed", "tune", "each machine's disk", "the disk is too small"),
        ),
        given=(more("digits", 'inputs={"data": "gs://acme-data/digits"}'),),
    ),
    Case(
        "An input is copied no more",
        (template("digits", '    inputs={"data": "gs://acme-data/digits"},\n', ""),),
        (stops("arguments-changed", "digits", "$SLIPWAY_INPUT_DATA", "fails"),),
        given=(more("digits", 'inputs={"data": "gs://acme-data/digits"}'),),
    ),
    Case(
        "A variable is set to nothing",
        (template("evals", '{"REGION": "us-central1"}', '{"REGION": "us-central1", "LEVEL": ""}'),),
        (),
        accident="a variable that was thought to be set",
    ),
    Case(
        "The model to upload is looked for in another folder, and has the same id each time",
        (template("evals", UPLOAD, f'{UPLOAD}, artifact="best/", model_id="judge"'),),
        (
            stops("request-changed", "evals", "AIP_MODEL_DIR", "fails at its end"),
            hurts("request-changed", "evals", "`modelId`"),
        ),
        given=UPLOADS,
        accident="a run whose result was looked for where it was not",
    ),
    Case(
        "The last way to run gets a wait, after which nothing follows",
        (template("evals", "    timeout_s=7200", '    waits={"on-demand": 600},\n    timeout_s=7200'),),
    ),
    Case(
        "All machines start again with one, of which there is no other",
        (
            imports("evals", "Scheduling"),
            more("evals", RESTARTED),
        ),
        (tells("scheduling-changed", "evals", "one machine"),),
        never=("all machines",),
    ),
    Case(
        "A template that costs a hundred dollars an hour can be submitted",
        (Edit("templates/wide.py", "", WIDE), stack("    - tune\n", "    - tune\n    - wide\n")),
        (hurts("template-added", "template wide", "a run of up to 24 h costs $101.14/h on demand"),),
        world=BUSY,
        accident="a bill that nobody had asked for",
    ),
    Case(
        "A study's trials may run four times as long, and an idle limit finds no GPU",
        (
            template("tune", "timeout_s=3600", "timeout_s=14400"),
            imports("evals", "Idle"),
            more("evals", "idle=Idle(after_s=3600, below=0.05)"),
        ),
        (
            hurts("timeout-changed", "tune", "have trials that may run 4 h instead of 1 h"),
            tells("environment-changed", "evals", "no GPU"),
        ),
        never=("ended once",),
        accident="trials that hung on a lock and were paid for four hours each",
    ),
    Case(
        "A model is uploaded under another name",
        (template("evals", 'ModelUpload("judge"', 'ModelUpload("judge-v2"'),),
        (hurts("request-changed", "evals", "upload their model as `judge-v2`", "looks for the old name"),),
        given=UPLOADS,
        never=("who serves it gets another",),
        accident="a deployment that served the old model, as the new one had another name",
    ),
    Case(
        "A model is not uploaded any more, as its kind goes",
        (template("evals", UPLOADING, 'kinds=("custom-job",)'),),
        (
            stops("kind-gone", "evals", "with `--as training-pipeline` are refused"),
            hurts("request-changed", "evals kind", "nothing uploads the model"),
        ),
        given=UPLOADS,
        world=World(jobs=(Job("evals-7", "evals", "ci", "spot", {}, "SUCCEEDED", 90, "training-pipeline"),)),
        never=("as a training pipeline are refused",),
    ),
)
