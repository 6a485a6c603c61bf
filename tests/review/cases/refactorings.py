"""Harmless changes of templates and of job code."""

from tests.review.case import Case, Edit, World, silent, stack, template
from tests.review.edits import IDLE, PLAIN, REFUSED, SAVING, VARIANT, VARIANTS

LOOP = Edit("jobs/lora/task.py", '    print("trained", EVERY)\n', "    print([step for step in range(EVERY)])\n")
LARGE = """            ("pool", "reservation", "spot"),
        ),
"""
SMALL = """        Variant(
            {"model": "9b", "precision": "fp32"},
            (WorkerPool("tuner", "a2-ultragpu-1g", Disk("pd-ssd", 300), args=ARGS),),
        ),
"""
AS_WITHOUT = (
    VARIANTS
    + """        Variant(
            {"model": "9b"},
            (WorkerPool("tuner", "a2-highgpu-1g", Disk("pd-ssd", 200), args=ARGS),),
            ("spot", "flex-start", "on-demand"),
        ),
"""
)
HALF = (
    VARIANTS
    + """        Variant(
            {"model": "27b", "precision": "fp32"},
            (WorkerPool("tuner", "a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS, reservation="bought"),),
            ("pool", "reservation", "spot"),
        ),
"""
)

CASES = (
    silent(
        "A comment of the job's code: other bytes, and nothing else",
        Edit("jobs/digits/task.py", "so that two runs are the same", "and two runs are the same"),
    ),
    Case(
        "A comprehension's variable has another name",
        (Edit("jobs/lora/task.py", "[step for step in range(EVERY)]", "[number for number in range(EVERY)]"),),
        may=("code-changed",),
        given=(LOOP,),
    ),
    Case(
        "On-demand comes before Spot, of which there is no quota: jobs run as they did",
        (template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand", "spot")'),),
        never=("before Spot",),
        world=World(limits={"preemptible_cpus": 0}),
    ),
    silent(
        "A refusal in other words",
        template("lora", "9b in fp32 needs more than 40 GB", "40 GB are too few"),
        given=(template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),),
    ),
    silent("A bound is written as a power", template("lora", "max=256", "max=2**8")),
    silent("A timeout is written as a product", template("lora", "86_400", "24 * 3600")),
    Case(
        "A variable is set to nothing",
        (template("evals", '{"REGION": "us-central1"}', '{"REGION": "us-central1", "LEVEL": ""}'),),
        (),
        accident="a variable that was thought to be set",
    ),
    Case(
        "The last way to run gets a wait, after which nothing follows",
        (template("evals", "    timeout_s=7200", '    waits={"on-demand": 600},\n    timeout_s=7200'),),
    ),
    silent(
        "A template's docstring, its summary, and the help of a parameter",
        template("lora", "fine-tuning of a language model; the", "how a language model is tuned; the"),
        template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),
        template("digits", "hyperparameter search of a digit classifier", "searches a classifier of digits"),
    ),
    silent(
        "A variable of a template's file is renamed",
        template("digits", 'TREES = "--trees=${trees}"', 'OF_TREES = "--trees=${trees}"'),
        template("digits", "args=(TREES,", "args=(OF_TREES,"),
        accident="a rename taken for a removal",
    ),
    silent(
        "Parameters of a template in other words: a bound that says the same",
        template("lora", "max=100_000", "max=10**5"),
    ),
    silent(
        "A team says for a key of the stack what everybody has",
        stack("ada@acme.example] } }", "ada@acme.example], machines: { small: { machine: n1-standard-8 } } } }"),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:machines: { small: n1-standard-8 }\n"
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example] } }\n"
                "  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
    ),
    silent(
        "A template that no stack publishes yet, with its code",
        Edit("templates/draft.py", "", "raise NotImplementedError\n"),
        Edit("jobs/draft/__init__.py", "", "# to come\n"),
    ),
    silent("What Python leaves beside a job's code", Edit("jobs/lora/__pycache__/task.cpython-311.pyc", "", "bytes\n")),
    silent(
        "Environment variables in another order",
        template("evals", '"REGION": "us-central1", "ZONE": "a"', '"ZONE": "a", "REGION": "us-central1"'),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"REGION": "us-central1", "ZONE": "a"}'),),
        accident="a list that is compared by position",
    ),
    silent(
        "Choices of a parameter in another order",
        template("lora", 'choices=("bf16", "fp32")', 'choices=("fp32", "bf16")'),
    ),
    silent(
        "Cases of a template that exclude each other, in another order",
        template("lora", "    variants=(\n", f"    variants=(\n{SMALL}"),
        template("lora", f"{LARGE}{SMALL}", LARGE),
        given=(template("lora", LARGE, f"{LARGE}{SMALL}"),),
        accident="a list that is compared by position",
    ),
    silent("A metric's goal is written out, as by default", template("tune", '"accuracy"', '"accuracy", "maximize"')),
    silent("A disk's size is left out, which is the default", template("tune", '"pd-ssd", 100', '"pd-ssd"')),
    silent("A time limit as a product", template("digits", "timeout_s=3600", "timeout_s=60 * 60")),
    silent("An argument comes from a variable", template("digits", "args=(TREES, ", "args=(*(TREES,), ")),
    silent("A parameter's bounds with a point", template("digits", "min=1, max=5000", "min=1.0, max=5000.0")),
    silent("A file beside the jobs' folders", Edit("jobs/README.md", "", "What is here, and how to try it.\n")),
    silent("A limit of idle GPUs is written out", template("evals", "3600)", "3600, below=0.05)"), given=IDLE),
    Case(
        "The line that saves is in another file now",
        (
            Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", "        keep(new, kept)\n"),
            Edit("jobs/digits/keeping.py", new="import os\n\n\ndef keep(new, kept):\n    os.replace(new, kept)\n"),
        ),
        may=("code-changed",),
        given=SAVING,
        never=("no line saves",),
    ),
    Case(
        "Types and docstrings of a job's functions",
        (
            Edit(
                "jobs/digits/task.py",
                "def kept(path, scores):\n",
                'def kept(path: Path, scores: dict[str, float]) -> None:\n    """Write the checkpoint of a seed."""\n',
            ),
            Edit("jobs/digits/task.py", "def draw(seed):\n", "def draw(\n    seed: int,\n) -> random.Random:\n"),
        ),
        may=("code-changed",),
        given=PLAIN,
    ),
    Case(
        "Types of the methods of a class that is called alone",
        (
            Edit(
                "jobs/digits/task.py",
                "def step(self, seed, rate=1.0):",
                "def step(self, seed: int, rate: float = 1.0) -> int:",
            ),
        ),
        may=("code-changed",),
        given=(
            Edit(
                "jobs/digits/task.py",
                "def main() -> None:\n",
                "class Search:\n    def step(self, seed, rate=1.0):\n        return seed\n\n\n"
                "def main() -> None:\n    Search().step(7)\n",
            ),
        ),
    ),
    silent(
        "A variant's value as one of several",
        template("lora", 'Variant(\n            {"model": "27b"},', 'Variant(\n            {"model": ("27b",)},'),
    ),
    silent("A wait with its thousands apart", template("lora", '"flex-start": 7200', '"flex-start": 7_200')),
    silent(
        "A study that says how it searches and judges, as it did by default",
        template(
            "tune",
            '        parallel_trials="${parallel}",\n',
            '        parallel_trials="${parallel}",\n        algorithm="bayesian",\n        measurement="best",\n',
        ),
    ),
    silent("The launcher said", template("evals", 'command=("judge",),', 'command=("judge",), launcher=True,')),
    silent("A variant says what its case has without it", template("lora", VARIANTS, AS_WITHOUT)),
    silent("A variant in two, which say the same", template("lora", VARIANTS, HALF)),
    Case(
        "The type of a job's variable",
        (Edit("jobs/digits/task.py", "EVERY = 20 ", "EVERY: int = 20 "),),
        may=("code-changed",),
    ),
    Case(
        "A line of a job's log in one text",
        (Edit("jobs/tune/task.py", '"trained", EVERY', 'f"trained {EVERY}"'),),
        may=("code-changed",),
    ),
    silent("A template that no stack lists can't be loaded", Edit("templates/draft.py", new="def\n")),
    silent("An image's name in two parts", template("evals", "acme-ml/evals/judge@", 'acme-ml/evals/" "judge@')),
    silent(
        "A template's variables in another order, and its text on two lines",
        template(
            "lora",
            '    env={"NCCL_DEBUG": "WARN"},\n',
            '    env={\n        "NCCL_DEBUG": "WAR"\n        "N",\n    },\n',
        ),
    ),
    silent(
        "Writes out in tune what the service would choose anyway",
        template("tune", 'Metric("accuracy")', 'Metric("accuracy", "maximize")'),
        template(
            "tune",
            '        parallel_trials="${parallel}",\n',
            (
                '        parallel_trials="${parallel}",\n'
                '        algorithm="bayesian",\n'
                "        max_failed_trials=0,\n"
                '        measurement="best",\n'
            ),
        ),
        template(
            "tune",
            "    timeout_s=3600,\n",
            ('    capacity_types=("pool",),\n    timeout_s=3600,\n    checkpoints=False,\n'),
        ),
    ),
    silent(
        "digits: nicer words, numbers that can be read",
        template(
            "digits",
            "hyperparameter search of a digit classifier, spread over the workers",
            "searches hyperparameters of a digit classifier on many small machines",
        ),
        template("digits", 'help="worker machines"', 'help="machines that fit trees, each with 8 CPUs"'),
        template("digits", "max=5000", "max=5_000"),
        template("digits", "timeout_s=3600", "timeout_s=60 * 60"),
    ),
    silent(
        "evals' variable belongs to the judge",
        template("evals", '    env={"REGION": "us-central1"},\n', ""),
        template("evals", '"--batch=${batch}")),', '"--batch=${batch}"), env={"REGION": "us-central1"}),'),
    ),
)
