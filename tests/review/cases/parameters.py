"""Templates: their parameters, the places of their jobs, and the posted request."""

from tests.review.case import BUSY, LARGE, Case, Job, World, hurts, imports, more, stack, stops, tells, template

SWEEP = tuple(Job(f"sweep-{rank}", parameters={"model": "27b", "rank": rank}) for rank in (32, 64))
LATELY = World(
    jobs=(
        *SWEEP,
        Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100),
        Job("tune-monday", "tune", "cy", "pool", {"folds": 8}, "SUCCEEDED", 120, kind="custom-job"),
        Job("digits-monday", "digits", "cy", "pool", {"workers": 12}, "FAILED", 130),
        Job("lora-monday", "lora", "cy", "on-demand", {"precision": "fp32"}, "SUCCEEDED", 130),
    )
)
RANK = '        Parameter("rank", int, default=16, min=1, max=256, help="rank of the adapters"),\n'

CASES = (
    Case(
        "A parameter gets another name under a running sweep that sets it",
        (
            template("lora", RANK, RANK.replace('"rank"', '"lora_rank"')),
            template("lora", '"--rank=${rank}"', '"--rank=${lora_rank}"'),
        ),
        (stops("parameter-renamed | parameter-gone", "lora parameter rank", "ada", "lora_rank"),),
        may=("parameter-added",),
        world=LATELY,
        accident="a renamed input that broke every caller",
    ),
    Case(
        "A parameter goes that people use",
        (
            template("lora", RANK, ""),
            template("lora", '"--rank=${rank}"', '"--rank=16"'),
        ),
        (stops("parameter-gone", "lora parameter rank", "2 submissions by ada"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="a removed input that broke every caller",
    ),
    Case(
        "A parameter goes that nobody used",
        (
            template(
                "digits",
                '        Parameter("seed", int, default=0, min=0, max=1000, help="the same seed, the same search"),\n',
                "",
            ),
            template("digits", '"--seed=${seed}"', '"--seed=0"'),
        ),
        (hurts("parameter-gone", "digits parameter seed", "nobody"),),
        may=("arguments-changed",),
        world=World(),
    ),
    Case(
        "A parameter takes a list from now on",
        (template("digits", 'Parameter("seed", int, default=0,', 'Parameter("seed", list[int], default=(0,),'),),
        (hurts("parameter-type", "digits parameter seed", "list[int]", "may fail"),),
        world=World(),
        accident="a module's variable that became a list and broke its callers",
    ),
    Case(
        "The smallest value of a parameter is raised above what the sweep uses",
        (template("lora", "default=16, min=1, max=256", "default=128, min=128, max=256"),),
        (
            stops("bounds-narrowed", "lora parameter rank", "ada 2"),
            hurts("default-changed", "rank", "16", "128", "results may differ"),
        ),
        world=LATELY,
    ),
    Case(
        "A parameter that need not be set has to be",
        (template("lora", 'Parameter("steps", int, default=100,', 'Parameter("steps", int,'),),
        (stops("parameter-required", "lora parameter steps"),),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A whole number becomes a text",
        (
            template(
                "digits",
                'Parameter("trees", int, default=200, min=1, max=5000, help="trees in a forest")',
                'Parameter("trees", str, default="200", help="trees in a forest")',
            ),
        ),
        (stops("parameter-type", "digits parameter trees", "may give `trees` as str", "reads a whole number"),),
        world=LATELY,
        never=("can't be read as that is refused", "have to give"),
    ),
    Case(
        "A parameter that everybody has to set from now on",
        (
            template("lora", RANK, RANK + '        Parameter("data", str, help="where the texts are"),\n'),
            template("lora", '"--rank=${rank}",', '"--rank=${rank}",\n    "--data=${data}",'),
        ),
        (stops("parameter-required", "lora parameter data", "it is new and has no default"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A program gets its arguments in another order",
        (template("evals", '"--suite=${suite}", "--batch=${batch}"', '"--batch=${batch}", "--suite=${suite}"'),),
        (hurts("arguments-changed", "evals", "get their arguments in another order"),),
    ),
    Case(
        "A parameter is a command from now on, which no shell reads",
        (template("evals", '("core", "full"), ', '("core", "full"), command=True, '),),
        (hurts("bounds-narrowed", "evals parameter suite", "a shell, as with `&&`"),),
        may=("arguments-changed",),
    ),
    Case(
        "A template that people use is not published any more",
        (stack("    - evals\n", ""),),
        (stops("template-gone", "template evals", "ben"),),
        world=LATELY,
        accident="a service taken down that somebody still used",
    ),
    Case(
        "A template that nobody used is not published any more",
        (stack("    - evals\n", ""),),
        (hurts("template-gone", "template evals", "nobody"),),
    ),
    Case(
        "A template can't be submitted as a custom job any more, as somebody did",
        (template("tune", '("hyperparameter-tuning-job", "custom-job")', '("hyperparameter-tuning-job",)'),),
        (stops("kind-gone", "tune", "custom-job", "cy"),),
        may=("offer-gone",),
        world=LATELY,
    ),
    Case(
        "A template is a custom job unless one says otherwise, where it was a study",
        (
            template(
                "tune", '("hyperparameter-tuning-job", "custom-job")', '("custom-job", "hyperparameter-tuning-job")'
            ),
        ),
        (hurts("request-changed", "tune", "custom job", "hyperparameter", "ran as a hyperparameter tuning job in"),),
        may=("run-cost",),
        world=LATELY,
    ),
    Case(
        "Jobs do not run on the cluster any more",
        (template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),),
        (hurts("offer-gone", "digits", "pool"), hurts("pool-unused", "cpu/head")),
        may=("run-cost", "offer-order"),
        world=BUSY,
    ),
    Case(
        "The only capacity type left has no quota",
        (template("evals", '("spot", "on-demand")', '("spot",)'),),
        (stops("no-offer-left", "template evals"), hurts("offer-gone", "evals", "on-demand")),
        may=("quota-short-at-most", "offer-unavailable", "preview-failed"),
        world=World(limits={"preemptible_cpus": 1}),
    ),
    Case(
        "The prebuilt image is taken at its moving tag",
        (template("lora", "pytorch-gpu.2-4.py310:20260901", "pytorch-gpu.2-4.py310:latest"),),
        (hurts("executor-image-changed", "lora", "2026", "latest"),),
        world=LATELY,
        accident="the image `:latest`, which had moved",
    ),
    Case(
        "The prebuilt image has another framework version",
        (template("lora", "pytorch-gpu.2-4.py310:20260901", "pytorch-gpu.2-5.py310:20261101"),),
        (hurts("executor-image-changed", "lora", "2-4", "2-5"),),
        world=LATELY,
    ),
    Case(
        "The container is another one, of which nobody can see what is in it",
        (template("evals", "1" * 64, "2" * 64),),
        (tells("image-changed", "evals"),),
        world=LATELY,
        accident="a tag pointed at another build",
    ),
    Case(
        "Variables of the environment: the log level, and where the model is looked for",
        (template("lora", '{"NCCL_DEBUG": "WARN"}', '{"NCCL_DEBUG": "INFO", "HF_HUB_OFFLINE": "1"}'),),
        (tells("environment-changed", "lora", "NCCL_DEBUG"), hurts("environment-changed", "lora", "HF_HUB_OFFLINE")),
    ),
    Case(
        "The container starts with another command",
        (template("evals", 'command=("judge",)', 'command=("bash", "-c", "judge || true")'),),
        (hurts("arguments-changed", "evals", "bash"),),
        accident="a failure that was swallowed",
    ),
    Case(
        "Jobs end after ten minutes, where a search takes twenty",
        (template("digits", "timeout_s=3600", "timeout_s=600"),),
        (stops("timeout-changed", "digits", "10 min"),),
        may=("run-cost",),
    ),
    Case(
        "The code does not go on from a checkpoint any more, on machines that may go at any moment",
        (template("evals", "    checkpoints=True,\n", ""),),
        (hurts("request-changed", "evals", "checkpoint"),),
    ),
    Case(
        "Jobs get a label by which finance takes the bill apart",
        (more("evals", 'labels={"cost-center": "r-7"}'),),
        (tells("request-changed", "evals label cost-center", "r-7", "bill"),),
    ),
    Case(
        "Jobs count for another team than before",
        (template("evals", '"team": "judges"', '"team": "vision"'),),
        (hurts("request-changed", "evals label team", "judges", "vision", "no team, group or budget"),),
        never=("draw on its",),
        accident="a team that paid for another's jobs",
        given=(more("evals", 'labels={"team": "judges"}'),),
    ),
    Case(
        "Jobs count for no team of their own any more",
        (template("evals", '    labels={"team": "judges"},\n', ""),),
        (hurts("request-changed", "evals label team", "judges"),),
        given=(more("evals", 'labels={"team": "judges"}'),),
    ),
    Case(
        "A study looks for the largest error",
        (template("tune", 'Metric("accuracy")', 'Metric("accuracy", "minimize")'),),
        (stops("study-changed", "tune"),),
        accident="a sign that was turned",
    ),
    Case(
        "A study looks in a narrower range",
        (template("tune", "min=2, max=16", "min=2, max=4"),),
        (hurts("study-changed", "tune", "depth"),),
    ),
    Case(
        "Retries are switched off",
        (
            imports("evals", "Scheduling"),
            more("evals", "scheduling=Scheduling(disable_retries=True)"),
        ),
        (stops("scheduling-changed", "evals", "Spot"),),
    ),
    Case(
        "Large models are tuned on Spot machines first",
        (template("lora", '("pool", "reservation", "spot")', '("spot", "pool", "reservation")'),),
        (hurts("offer-order", "lora", "Spot before pool"),),
        may=("run-cost",),
        world=BUSY,
    ),
    Case(
        "A smaller disk for the weights",
        (template("lora", 'Disk("pd-ssd", 200)', 'Disk("pd-ssd", 100)'),),
        (hurts("machines-changed", "lora", "200", "100"),),
        may=("run-cost",),
        accident="a disk that was full in the night",
    ),
    Case(
        "A size of the model that had machines of its own is renamed away",
        (
            template("lora", 'choices=("9b", "27b")', 'choices=("9b", "27b-it")'),
            template("lora", '{"model": "27b"}', '{"model": "27b-it"}'),
        ),
        (stops("bounds-narrowed", "lora parameter model", "27b", "ada"),),
        may=("offer-gone", "machines-changed", "run-cost"),
        world=World(jobs=(LARGE,)),
    ),
    Case(
        "Another capacity type is offered in addition",
        (template("evals", '("spot", "on-demand")', '("spot", "on-demand", "pool")'),),
        (tells("offer-added", "evals", "pool"),),
    ),
    Case(
        "A parameter that need not be set is added",
        (
            template("lora", RANK, RANK + '        Parameter("seed", int, default=0, min=0, max=9),\n'),
            template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--seed=${seed}",\n'),
        ),
        (
            tells("parameter-added", "lora parameter seed"),
            hurts("arguments-changed", "lora", "--seed=0", "what the code makes of it"),
        ),
    ),
    Case(
        "A parameter has another name, and whoever set it may have set its default",
        (
            template("digits", 'Parameter("seed"', 'Parameter("rng"'),
            template("digits", "--seed=${seed}", "--seed=${rng}"),
        ),
        (hurts("parameter-renamed", "digits", "nobody had another value than its default"),),
        world=World(jobs=(Job("digits-night", "digits", user="nightly", parameters={"seed": 0}),)),
        never=("nobody set it",),
    ),
    Case(
        "A fraction has to be a whole number",
        (template("digits", 'Parameter("trees", float,', 'Parameter("trees", int,'),),
        (stops("parameter-type", "digits parameter trees", "have to give `trees` as int instead of float"),),
        given=(template("digits", 'Parameter("trees", int,', 'Parameter("trees", float,'),),
        world=LATELY,
        accident="scripts that failed at night, for a rate of 0.5",
    ),
    Case(
        "Another default for precision, which says nothing of memory and time",
        (template("lora", 'default="bf16"', 'default="fp32"'),),
        (hurts("default-changed", "precision", "`fp32` instead of `bf16`", "results may differ"),),
        never=("memory and", "suffice", "timeout"),
        accident="a default of half precision, with losses that were no numbers",
    ),
    Case(
        "A parameter goes, and all jobs get another value than its default",
        (template("lora", RANK, ""), template("lora", '"--rank=${rank}"', '"--rank=64"')),
        (
            stops("parameter-gone", "lora parameter rank", "2 submissions by ada"),
            hurts("arguments-changed", "lora", "`--rank=64` instead of `--rank=${rank}`"),
        ),
        world=LATELY,
        never=("instead of `--rank=16`",),
        accident="a flag removed from a script that others' schedules still passed",
    ),
)
