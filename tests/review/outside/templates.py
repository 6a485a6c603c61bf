"""Templates: what a submission asks for, for how long, and with which words."""

from __future__ import annotations

from tests.review.case import Job, World, stack, template
from tests.review.outside.truth import OutsideCase, Source, halts, harms, tells

LIMIT = "timeout_s=86_400"
DIGITS = "from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool"
WITH_SCHEDULING = "from slipway.template import Disk, JobTemplate, Package, Parameter, Scheduling, WorkerPool"
SPOT = '    capacity_types=("pool", "spot", "on-demand"),\n'
NIGHT = World(
    jobs=(
        Job("evals-n1", "evals", "nightly", "spot", state="SUCCEEDED", hours=32),
        Job("evals-n2", "evals", "nightly", "spot", state="SUCCEEDED", hours=8),
    )
)

CASES = (
    OutsideCase(
        "Fine-tuning may run for one hour instead of a day",
        "templates",
        (template("lora", LIMIT, "timeout_s=3600"),),
        Source("Time limits end long training", "https://github.com/mozilla/translations/issues/153", "2023-08-02"),
        (
            halts(
                "lora jobs submitted from now on are ended after one hour.",
                "everyone who submits lora",
                "longer runs do not finish",
            ),
            tells("ada's tune-9b-long, three hours old, keeps its day.", "ada", "nothing"),
        ),
        World(jobs=(Job("tune-9b-long", capacity_type="spot"),)),
    ),
    OutsideCase(
        "Fine-tuning may run for a week",
        "templates",
        (template("lora", LIMIT, "timeout_s=604_800"),),
        Source("Six hours are not enough", "https://github.com/microsoft/onnxruntime/pull/14850", "2023-02-28"),
        (
            harms(
                "The advisory rule longestTimeout wants jobs to end after 48 hours; lora may run for 168.",
                "who watches over the rules",
                "a rule that is broken",
            ),
            harms(
                "A lora job that hangs on demand costs $719 until it is ended, instead of $103.",
                "who pays for lora",
                "up to seven times the bill of a hanging job",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning may run for two weeks",
        "templates",
        (template("lora", LIMIT, "timeout_s=1_209_600"),),
        Source(
            "A training job's longest time", "https://github.com/MicrosoftDocs/azure-docs/issues/106027", "2023-03-02"
        ),
        (
            halts(
                "A flex-start job runs seven days at most: lora can't be offered on flex-start with such a limit.",
                "everyone who submits lora with model 9b",
                "flex-start, or a deployment that is refused",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning uses the larger model by default",
        "templates",
        (template("lora", 'Parameter("model", str, default="9b"', 'Parameter("model", str, default="27b"'),),
        Source(
            "Defaults that start a hundred trials",
            "https://github.com/conversationai/conversationai-models/pull/28",
            "2018-03-18",
        ),
        (
            halts(
                "Whoever names no model gets 27b on a machine of eight H100: on h100 while that has room, then on the "
                "reservation, then on Spot at $63.92 an hour, instead of 9b at $2.53 on Spot.",
                "everyone who submits lora and names no model, as grace did",
                "another model than they meant, and other machines",
            ),
        ),
        World(jobs=(Job("tune-g4", user="grace", capacity_type="spot", state="SUCCEEDED", hours=20),)),
    ),
    OutsideCase(
        "Fine-tuning takes a hundred times as many steps by default",
        "templates",
        (template("lora", '"steps", int, default=100,', '"steps", int, default=10_000,'),),
        Source(
            "Number of steps changed", "https://github.com/open-edge-platform/physical-ai-studio/pull/779", "2026-07-06"
        ),
        (
            harms(
                "Whoever names no steps gets 10,000 instead of 100: a hundred times the time and the money, until the "
                "limit of a day ends it.",
                "everyone who submits lora and names no steps",
                "up to a hundred times the bill",
            ),
        ),
    ),
    OutsideCase(
        "The rank gets another name",
        "templates",
        (
            template("lora", '"--rank=${rank}"', '"--rank=${lora_rank}"'),
            template("lora", 'Parameter("rank"', 'Parameter("lora_rank"'),
        ),
        Source("A renamed flag", "https://github.com/davanstrien/uv-scripts-for-ai/issues/34", "2026-06-05"),
        (
            halts(
                "Submissions with -p rank=… are refused, as ada's of tune-r64 would be.",
                "everyone who names rank",
                "their commands and scripts",
            ),
        ),
        World(jobs=(Job("tune-r64", parameters={"rank": 64}, capacity_type="spot", state="SUCCEEDED", hours=70),)),
    ),
    OutsideCase(
        "The search has no seed any more",
        "templates",
        (
            template("digits", '"--seed=${seed}", ', ""),
            template(
                "digits",
                '        Parameter("seed", int, default=0, min=0, max=1000, help="the same seed, the same search"),\n',
                "",
            ),
        ),
        Source(
            "Arguments that are gone",
            "https://github.com/sovit-123/fasterrcnn-pytorch-training-pipeline/issues/56",
            "2023-03-26",
        ),
        (
            halts(
                "Submissions with -p seed=… are refused, as grace's of digits-s7 would be.",
                "everyone who names seed",
                "their commands, and searches that can be repeated",
            ),
        ),
        World(jobs=(Job("digits-s7", "digits", "grace", parameters={"seed": 7}, state="SUCCEEDED", hours=60),)),
    ),
    OutsideCase(
        "The search takes eight workers at most",
        "templates",
        (template("digits", "default=4, min=1, max=16", "default=4, min=1, max=8"),),
        Source(
            "Script arguments outdated",
            "https://github.com/30stomercury/Interaction-Aware-Attention-Network/issues/6",
            "2020-05-05",
        ),
        (
            harms(
                "Submissions with more than eight workers are refused, as grace's digits-16 would be.",
                "everyone who submits digits with more than eight workers",
                "half of the machines",
            ),
        ),
        World(jobs=(Job("digits-16", "digits", "grace", parameters={"workers": 16}, state="SUCCEEDED", hours=50),)),
    ),
    OutsideCase(
        "The search is no longer offered",
        "templates",
        (stack("    - digits\n", ""),),
        Source("A script is deprecated", "https://github.com/neuralmagic/sparseml/pull/1162", "2022-11-16"),
        (
            halts(
                "digits can't be submitted any more; grace did so half an hour ago.",
                "everyone who submits digits",
                "the template",
            ),
            tells("grace's digits-k7 goes on.", "grace", "nothing"),
        ),
        World(jobs=(Job("digits-k7", "digits", "grace", hours=0.5),)),
    ),
    OutsideCase(
        "More trials at once than the pool has machines",
        "templates",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=32"),),
        Source("Limits of a node pool are set anew", "https://github.com/MinaProtocol/mina/issues/11506", "2022-07-18"),
        (
            harms(
                "A study of more than sixteen trials at once never fits into cpu, which grows to sixteen workers.",
                "everyone who submits tune with more than sixteen at once",
                "a job that can't run",
            ),
        ),
    ),
    OutsideCase(
        "A study makes 200 trials by default",
        "templates",
        (template("tune", '"trials", int, default=8,', '"trials", int, default=200,'),),
        Source("Default hyperparameters updated", "https://github.com/JohnGiorgi/DeCLUTR/pull/95", "2020-05-17"),
        (
            harms(
                "Whoever names no trials gets 200 instead of 8, two at once: two workers of cpu are taken 25 times as "
                "long.",
                "everyone who submits tune and names no trials",
                "time, and room in the pool for everybody else",
            ),
        ),
    ),
    OutsideCase(
        "The token of Hugging Face comes from a secret of another name",
        "templates",
        (template("lora", '{"HF_TOKEN": "hf-token"}', '{"HF_TOKEN": "hf-token-read"}'),),
        Source(
            "A token's secret gets another name", "https://github.com/SemiAnalysisAI/InferenceX/pull/1684", "2026-06-08"
        ),
        (
            halts(
                "New lora jobs read hf-token-read, which must exist and be granted to the trainer.",
                "everyone who submits lora",
                "their jobs can't read the secret",
            ),
        ),
    ),
    OutsideCase(
        "The evaluations are no longer given their key",
        "templates",
        (template("evals", '    secrets={"JUDGE_KEY": "judge-key"},\n', ""),),
        Source("A token got lost on the way", "https://github.com/vllm-project/vllm-omni/pull/7118", "2026-09-06"),
        (
            halts(
                "The judge finds no JUDGE_KEY in its environment; nightly's next run is the first that fails.",
                "everyone who submits evals, nightly too",
                "their jobs have no key",
            ),
        ),
        NIGHT,
    ),
    OutsideCase(
        "Fine-tuning is not told where its results belong",
        "templates",
        (template("lora", '    "--output=${slipway.output}",\n', ""),),
        Source(
            "A path that was missing at the resumption", "https://github.com/dataxight/protoplast/pull/28", "2025-09-28"
        ),
        (
            halts(
                "The code isn't told the folder of the job in acme-work any more; what it writes to the machine's disk "
                "is gone with the machine.",
                "everyone who submits lora",
                "the adapters they trained",
            ),
        ),
    ),
    OutsideCase(
        "An error ends the search at once",
        "templates",
        (
            template("digits", DIGITS, WITH_SCHEDULING),
            template("digits", SPOT, SPOT + "    scheduling=Scheduling(disable_retries=True),\n"),
        ),
        Source(
            "Resumption after a preemption",
            "https://github.com/modal-projects/training-gym/pull/69",
            "2026-05-26",
        ),
        (
            harms(
                "A digits job is not tried again after an error of the service.",
                "everyone who submits digits",
                "jobs that would have survived",
            ),
        ),
    ),
    OutsideCase(
        "A lost worker makes the whole search begin again",
        "templates",
        (
            template("digits", DIGITS, WITH_SCHEDULING),
            template("digits", SPOT, SPOT + "    scheduling=Scheduling(restart_job_on_worker_restart=True),\n"),
        ),
        Source(
            "A job that starts again from scratch",
            "https://github.com/EveryVoiceTTS/EveryVoice/issues/183",
            "2023-11-29",
        ),
        (
            harms(
                "When one worker is lost all machines of a digits job start again, its scheduler too.",
                "everyone who submits digits, on Spot most of all",
                "work, as far as no checkpoint has it",
            ),
        ),
    ),
)
