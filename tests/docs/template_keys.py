"""Values and purpose of each key of a template, by its class: the words of docs/job-template.md.

Examples are applied and values `refused` are tried, so neither can be wrong. # D8
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slipway.authoring.template.job_template import MAX_TIMEOUT_S, MOST_LABELS
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.kinds import KINDS
from slipway.model.labels import RESERVED
from slipway.model.rules.code import MOST_ENV
from slipway.model.rules.workers import LARGEST_DISK, MOST_POOLS, POSITIONS, SMALLEST_DISK


@dataclass(frozen=True)
class Key:
    """A key's documentation. `example` and each of `refused` are arguments as a template's file has them; `given` are
    the arguments that they build on. `bounds` follow the type."""

    about: str
    example: str
    bounds: str = ""
    refused: tuple[str, ...] = ()
    given: str = ""


def _listed(names: Mapping[str, object] | tuple[str, ...]) -> str:
    return ", ".join(f"`{one}`" for one in names)


TYPES, POSITION = _listed(CAPACITY_TYPES), _listed(POSITIONS)
COUNT = "1 or more, or `${NAME}` of an int parameter that has min and max, or choices"

TEMPLATE_KEYS: Mapping[str, Mapping[str, Key]] = {
    "JobTemplate": {
        "name": Key(
            "What people submit, and what `slipway:templates` names; its file has `_` for `-`. With another name it is "
            "another template.",
            'name="digits"',
            "at most 50 lowercase letters, digits and hyphens, a letter first",
            ('name="Digits"', f'name="{"a" * 51}"'),
        ),
        "summary": Key("One line for the list of templates.", 'summary="trains a forest"'),
        "code": Key(
            "What each worker pool runs that has no code of its own.",
            f'code=Image("example/train@sha256:{"0" * 64}")',
        ),
        "worker_pools": Key(
            "The roles of a job. The first is the chief.",
            'worker_pools=(WorkerPool("one", "n1-standard-4"),)',
            f"1 to {MOST_POOLS}, the first with 1 replica",
            ("worker_pools=()", 'worker_pools=(WorkerPool("one", "n1-standard-4", replicas=2),)'),
            given='parameters=(), variants=(), worker_pools=(WorkerPool("one", "n1-standard-8"),)',
        ),
        "kinds": Key(
            "As what it may be submitted: the first, or another with `--as`. A tuning job needs a `study`.",
            'kinds=("custom-job", "training-pipeline")',
            f"of {_listed(KINDS)}, each once",
            ("kinds=()", 'kinds=("job",)', 'kinds=("custom-job", "custom-job")'),
        ),
        "parameters": Key(
            "What a submission may set with `-p`. Each must be used somewhere.",
            'parameters=(Parameter("text", str),)',
            refused=('parameters=(Parameter("other", str),)',),
            given='worker_pools=(WorkerPool("one", "n1-standard-4", args=("${text}",)),), variants=(), '
            'parameters=(Parameter("text", int),)',
        ),
        "capacity_types": Key(
            "Where machines may come from, the preferred first.",
            'capacity_types=("pool", "flex-start")',
            f"of {TYPES}, each once",
            ("capacity_types=()", 'capacity_types=("cheap",)'),
        ),
        "timeout_s": Key(
            "Ends a job that runs longer. A flex-start job runs seven days at most.",
            "timeout_s=3600",
            f"seconds, 1 to {MAX_TIMEOUT_S:,} (7 days)",
            ("timeout_s=0", f"timeout_s={MAX_TIMEOUT_S + 1}"),
        ),
        "env": Key(
            "Variables of every replica; values may hold placeholders.",
            'env={"OMP_NUM_THREADS": "4"}',
            f"at most {MOST_ENV - 1} with secrets; names as in C",
            ('env={"1A": "b"}', 'env={"SLIPWAY_PARAMETERS": ""}', f'env={{f"V{{i}}": "1" for i in range({MOST_ENV})}}'),
        ),
        "study": Key(
            "What a tuning job searches. In a tuning job arguments `--NAME=…` that it searches come from the service.",
            'study=Study((Metric("loss", "minimize"),), (Search("rate", "double", min=0.1, max=1.0),), 9, 3)',
            given='kinds=("hyperparameter-tuning-job",), '
            'study=Study((Metric("loss"),), (Search("depth", "double", min=0.1, max=1.0),), 9, 3)',
        ),
        "model": Key(
            "The model that a training pipeline uploads when its job has succeeded.",
            'model=ModelUpload("words", "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest")',
            given='kinds=("training-pipeline",)',
        ),
        "scheduling": Key("Waits and restarts.", "scheduling=Scheduling(disable_retries=True)"),
        "waits": Key(
            "After how many seconds a submission falls back to the next one; a flex-start job's own wait, too.",
            'waits={"pool": 1800}',
            "by capacity type; above 0",
            ('waits={"pool": 0}', 'waits={"flex-start": 9}'),
        ),
        "variants": Key(
            "Other machines or capacity types for some values of parameters.",
            'variants=(Variant({"size": "big"}, refusal="too big"),)',
        ),
        "secrets": Key(
            "By variable, a secret of Secret Manager: never its value. The job reads it with its own account.",
            'secrets={"HF_TOKEN": "hf-token"}',
            "a name, or `projects/…/secrets/NAME/versions/N`",
            ('secrets={"A B": "x"}', 'secrets={"A": "not a name"}'),
        ),
        "nfs_mounts": Key(
            "Shared folders. They need a network that reaches their server.",
            'nfs_mounts=(NfsMount("10.0.0.2", "/data", "data"),)',
            given='network="projects/123456789012/global/networks/training"',
        ),
        "network": Key(
            "VPC network to peer with; on a cluster its own when left out.",
            'network="projects/123456789012/global/networks/training"',
            "with the project's number",
            ('network="training"',),
        ),
        "trainer": Key(
            "Whom its jobs run as, by a name under `slipway:trainers`; the stack's trainer when left out.",
            'trainer="evals"',
            "lowercase letters, digits and hyphens",
            ('trainer="a@b"', 'trainer="a", service_account="a@acme-ml.iam.gserviceaccount.com"'),
        ),
        "service_account": Key(
            "An account's address instead, which the stack neither makes nor grants anything.",
            'service_account="train@acme-ml.iam.gserviceaccount.com"',
            "not together with `trainer`",
            ('service_account="train"',),
        ),
        "enable_web_access": Key("A shell into each replica, while it runs.", "enable_web_access=True"),
        "enable_dashboard_access": Key("Ray's and other dashboards of the job.", "enable_dashboard_access=True"),
        "tensorboard": Key(
            "Where what is written to `AIP_TENSORBOARD_LOG_DIR` is shown.",
            'tensorboard="1234567890"',
            "an id, or its full name; not together with `experiment`",
            ('tensorboard="1", experiment="words"',),
        ),
        "experiment": Key("A Vertex AI experiment; each job is a run of it.", 'experiment="words"'),
        "code_flag": Key(
            "`submit --code` may replace its package, on stacks that allow it.",
            "code_flag=True",
            "not with an image",
            (f'code_flag=True, code=Image("a@sha256:{"0" * 64}")',),
        ),
        "checkpoints": Key(
            "Its code goes on from a checkpoint of its own when it is started again; for reviews and `slipway:policy`.",
            "checkpoints=True",
        ),
        "labels": Key(
            "Labels of its jobs, and so in the bill. `team` names the team that its jobs count for.",
            'labels={"team": "vision", "cost-center": "research"}',
            f"at most {MOST_LABELS}; lowercase letters, digits, _ and -, none empty, a letter first; none of "
            f"{' and '.join(f'`{one}`' for one in RESERVED)}",
            (
                'labels={"Team": "vision"}',
                'labels={"team": "Vision"}',
                'labels={"team": ""}',
                'labels={"team": "${text}"}',
                'labels={"slipway-team": "vision"}',
                'labels={"goog-x": "y"}',
                f'labels={{"a" * {65}: "b"}}',
                f'labels={{f"l{{i}}": "b" for i in range({MOST_LABELS + 1})}}',
            ),
        ),
    },
    "WorkerPool": {
        "role": Key("Its name: in logs, and in `slipway jobs logs --role`.", 'role="helpers"', "each has its own"),
        "machine": Key(
            "Machine type; on a pool, exactly the pool's.", 'machine="n1-standard-16"', refused=('machine="big"',)
        ),
        "disk": Key(
            "Boot disk of each machine; on a pool, exactly the pool's.",
            'disk=Disk("pd-standard", 200)',
            refused=('disk=Disk("hyperdisk-balanced")',),
        ),
        "accelerator": Key(
            "Its GPUs, where the machine type does not tell them.",
            'accelerator="NVIDIA_TESLA_T4", accelerator_count=1',
            refused=('accelerator="T4", accelerator_count=1',),
        ),
        "accelerator_count": Key(
            "How many for each machine.",
            "accelerator_count=2",
            refused=("accelerator_count=3",),
            given='accelerator="NVIDIA_TESLA_T4", accelerator_count=1',
        ),
        "replicas": Key("So many machines.", 'replicas="${steps}"', COUNT, ("replicas=0", 'replicas="${text}"')),
        "args": Key("Arguments of the code; they may hold placeholders.", 'args=("--fast",)'),
        "position": Key(
            "Its place in the request; the one after the pool before it when left out.",
            'position="evaluators"',
            f"one of {POSITION}",
            ('position="last"', 'position="chief"'),
        ),
        "code": Key(
            "Code of this role alone.",
            'code=Package("jobs/helper", "helper.task", "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest")',
        ),
        "reservation": Key(
            "For capacity type `reservation`: a name under `slipway:reservations`, a full path, or `ANY_RESERVATION`, "
            "any that fits, in stacks that declare one.",
            "reservation=ANY_RESERVATION",
        ),
        "tpu_topology": Key(
            "For machine types that are TPUs.",
            'machine="ct5lp-hightpu-4t", tpu_topology="2x2"',
            refused=('machine="ct5lp-hightpu-4t", tpu_topology="3x3"',),
        ),
        "env": Key(
            "Variables of this role alone, beside the template's and in place of those of the same name.",
            'env={"ROLE": "store"}',
            "names as in C",
            ('env={"1A": "b"}', 'env={"SLIPWAY_PARAMETERS": ""}'),
        ),
    },
    "Disk": {
        "type": Key(
            "",
            'type="pd-standard"',
            "`pd-ssd`, `pd-standard` or `hyperdisk-balanced`, as the machine type has; its usual one when left out",
            ('type="floppy"',),
        ),
        "size_gb": Key(
            "",
            "size_gb=500",
            f"{SMALLEST_DISK:,} to {LARGEST_DISK:,}",
            (f"size_gb={SMALLEST_DISK - 1}", f"size_gb={LARGEST_DISK + 1}"),
        ),
    },
    "Package": {
        "folder": Key(
            "The import package, relative to the repository. What its requirements.txt pins is installed.",
            'folder="src/count_words"',
        ),
        "module": Key(
            "What is run, as with `python -m`.",
            'module="count_words.other"',
            "a module in that package",
            ('module="other.task"', 'module="count_words.1"'),
        ),
        "image": Key(
            "Vertex AI's prebuilt image that it runs in.",
            'image="us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:latest"',
            refused=('image="python:3.12"',),
        ),
    },
    "Image": {
        "uri": Key(
            "Container image. It has no launcher: a submission whose answer is lost may run it twice.",
            f'uri="example/train@sha256:{"1" * 64}"',
            "pinned: `NAME@sha256:DIGEST`",
            ('uri="example/train:latest"',),
        ),
        "command": Key("In place of its ENTRYPOINT; `args` replace its CMD.", 'command=("python", "-m", "train")'),
    },
    "Parameter": {
        "name": Key(
            "As in `-p NAME=VALUE` and `${NAME}`.",
            'name="rounds"',
            "at most 40 lowercase letters, digits and _, a letter first",
            ('name="Rounds"', f'name="{"a" * 41}"'),
        ),
        "type": Key("What a value is.", "type=float", "`int`, `float`, `str` or `bool`", ("type=list",)),
        "default": Key("Left out, each submission must give a value.", "default=50", refused=("default=0",)),
        "min": Key("Least value.", "min=10", "of numbers; included", ("min=2000", "type=str, default='', max=None")),
        "max": Key("Largest value.", "max=500", "of numbers; included", ("max=50",)),
        "choices": Key("All that it may be.", "choices=(100, 500)", refused=("choices=(0, 100)",)),
        "help": Key("One line for `slipway templates show`.", 'help="steps of the optimizer"'),
        "command": Key(
            "Its value is a command that no shell reads: `&&`, `|` and `$NAME` are refused. `{lr}` in it stands for a "
            "parameter that needs no declaration, `-p lr=0.1`, and stays one word; `{{lr}}` is `{lr}` itself.",
            "command=True",
            "of str",
            ("command=True, default='python a.py && python b.py'", "command=True, default='python a.py {lr}'"),
            given="type=str, default='python a.py', min=None, max=None",
        ),
    },
    "Variant": {
        "when": Key(
            "It applies where each parameter has its value, or one of its values. Of several variants the first does.",
            'when={"size": ("small", "big")}',
            "parameters that have choices, or are bool",
            ("when={}", 'when={"text": "a"}', 'when={"size": "huge"}'),
        ),
        "worker_pools": Key(
            "In place of the template's.", 'worker_pools=(WorkerPool("one", "n1-standard-8"),)', given='refusal=""'
        ),
        "capacity_types": Key(
            "In place of the template's.",
            'capacity_types=("on-demand",)',
            f"of {TYPES}",
            ('capacity_types=("cheap",)',),
        ),
        "refusal": Key("Why these values don't go together: nothing is sent then.", 'refusal="too big"'),
    },
    "Scheduling": {
        "max_wait_s": Key(
            "How long a flex-start job waits for machines: 0 is forever; left out, as `waits` say, or a day.",
            "max_wait_s=7200",
            "seconds",
        ),
        "restart_job_on_worker_restart": Key(
            "All replicas start again with one.", "restart_job_on_worker_restart=True"
        ),
        "disable_retries": Key(
            "The service does not try the job again after errors of its own.",
            "disable_retries=True",
            "not together with `restart_job_on_worker_restart`",
            ("disable_retries=True, restart_job_on_worker_restart=True",),
        ),
    },
    "NfsMount": {
        "server": Key("Its address.", 'server="10.0.0.3"', refused=('server=""',)),
        "path": Key("What it exports.", 'path="/more"', "from `/` on", ('path="more"',)),
        "mount_point": Key(
            "Where replicas have it.", 'mount_point="more"', "a folder below `/mnt/nfs/`", ('mount_point="/etc"',)
        ),
    },
}
