"""Job code: packages, their files and edited lines."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, silent, stops, tells, template
from tests.review.checkout import BASE
from tests.review.edits import PLACE, PLAIN, PRINTS, REPORTS, SAVES_CHECKPOINT, SAVING, TASK
from tests.review.engine import TEMPLATE
from tests.slipway.reviewing.builders import step

SHARED = ', shared=("jobs/common",))'
USES_COMMON = (
    template("digits", '"digits.task", IMAGE)', f'"digits.task", IMAGE{SHARED}'),
    Edit("jobs/digits/task.py", "# Every step", "from common import data\n\n# Every step"),
    Edit("jobs/common/__init__.py", "", ""),
    Edit("jobs/common/data.py", "", "SEED = 1\n"),
)
SAVES_LAST = '    torch.save(model, os.environ["SLIPWAY_OUTPUT"] + "/last.pt")\n'
PARSED = """def parsed():
    parser = ArgumentParser()
    for name in ("--model", "--steps", "--rank", "--precision", "--out"):
        parser.add_argument(name)
    return parser.parse_args()"""
NAMED = "from tune.depths import DEPTHS\n"
TUNE = (BASE / "jobs/tune/task.py").read_text("utf-8")
RENAMED = (
    template("tune", 'Package("jobs/tune", "tune.task"', 'Package("jobs/study", "study.task"'),
    Edit("jobs/tune/__init__.py"),
    Edit("jobs/tune/task.py"),
    Edit("jobs/study/__init__.py", "", ""),
)
UNSHARED = template("digits", f"IMAGE{SHARED}", "IMAGE)")
OBJECT = "gcp:storage/bucketObject:BucketObject"
BODY = '    print("trained", EVERY)\n'
SAVES_BY_PATH = Edit(
    TASK,
    BODY,
    '    out = os.environ["SLIPWAY_OUTPUT"]\n    saved = os.path.join(out, "checkpoint.pt")\n'
    '    state = torch.load(saved) if os.path.exists(saved) else {}\n    torch.save(state, f"{out}/checkpoint.pt")\n',
)
WRITES = Edit(TASK, BODY, '    parser = argparse.ArgumentParser()\n    parser.add_argument("--output")\n' + BODY)
SHARDS = Edit("jobs/lora/__init__.py", "", 'SHARDS = "gs://acme-data/shards"\n')

CASES = (
    silent(
        "A comment names the machine's own disk, and the code goes on saving elsewhere",
        Edit(TASK, "    state = torch.load", "    # Not in /tmp, which goes with the machine.\n    state = torch.load"),
        given=(SAVES_BY_PATH,),
    ),
    silent(
        "Shared code gets a comment, in the package of each job that has it",
        Edit("jobs/common/data.py", "SEED = 1", "SEED = 1  # of all draws"),
        given=USES_COMMON,
    ),
    Case(
        "Checkpoints go to the machine's own disk, while the metrics stay where they were",
        (
            Edit(
                TASK,
                'torch.save(state, f"{out}/checkpoint.pt")',
                "# The bucket is slow to take two gigabytes every few minutes, which the own disk is not.\n"
                '    torch.save(state, "/tmp/checkpoint.pt")',
            ),
        ),
        (hurts("code-changed", "lora", '(state, "/tmp/checkpoint.pt'),),
        given=(SAVES_BY_PATH,),
        accident="checkpoints written to local disk, gone with a preempted machine",
    ),
    Case(
        "A function of shared code that no job imports has another name",
        (Edit("jobs/common/data.py", "SEED = 1", "FIRST = 1"),),
        (
            tells(
                "code-changed",
                "digits",
                "bring `jobs/common/data.py` in their package",
                "no code that they run names it",
            ),
        ),
        given=USES_COMMON[:1] + USES_COMMON[2:],
        never=("run other code",),
    ),
    Case(
        "A module is deleted that the code of a job imports",
        (Edit("jobs/common/data.py"),),
        (stops("start-fails", "digits", "for want of `common.data`", "still imports"),),
        given=USES_COMMON,
        never=("read its lines", "whether runs end"),
        accident="a helper deleted with the one job that was seen to use it",
    ),
    Case(
        "A module is deleted that no code imports as it starts",
        (Edit("jobs/common/data.py"),),
        (hurts("code-changed", "digits", "are packed without `jobs/common/data.py`", "still needs that"),),
        given=(
            *USES_COMMON[:1],
            Edit(
                "jobs/digits/task.py",
                "# Every step",
                "try:\n    from common import data\nexcept ImportError:\n    data = None\n\n# Every step",
            ),
            *USES_COMMON[2:],
        ),
        never=("read its lines",),
    ),
    Case(
        "Tests beside the code are deleted",
        (Edit("jobs/lora/test_task.py"),),
        (tells("code-changed", "lora", "don't bring `jobs/lora/test_task.py`"),),
        given=(Edit("jobs/lora/test_task.py", "", "def test_it() -> None:\n    assert True\n"),),
    ),
    Case(
        "The checkpoint goes to the machine's own disk",
        (Edit(TASK, 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])', 'OUTPUT = Path("/tmp")'),),
        (
            stops(
                "code-changed",
                "lora",
                "find no checkpoint any more",
                "outlives the machine",
            ),
        ),
        given=(SAVES_CHECKPOINT, PLACE),
        accident="checkpoints on the disk of a Spot machine",
    ),
    Case(
        "The checkpoint goes to the machine's own disk, beside a file that reads from a bucket",
        (Edit(TASK, 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])', 'OUTPUT = Path("/tmp")'),),
        (stops("code-changed", "lora", "no longer names the job's own output"),),
        given=(SAVES_CHECKPOINT, PLACE, SHARDS),
        never=("find no checkpoint", "outlives the machine"),
        accident="checkpoints on the disk of a Spot machine",
    ),
    Case(
        "The checkpoint goes to a bucket by name",
        (Edit(TASK, 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])', 'OUTPUT = Path("/gcs/acme-checkpoints/lora")'),),
        (tells("code-changed", "lora", "task.py"),),
        may=("code-changed",),
        given=(SAVES_CHECKPOINT, PLACE, SHARDS),
        never=("the job's own output",),
    ),
    Case(
        "A trial's code reports another metric than its study judges by",
        (Edit("jobs/tune/task.py", '("accuracy", EVERY)', '("val_accuracy", EVERY)'),),
        (hurts("code-changed", "tune", "jobs/tune/task.py"),),
        given=(REPORTS,),
        accident="a study whose trials reported another metric",
    ),
    Case(
        "Code that three templates share is edited: each of them is told that may run it",
        (Edit("jobs/common/data.py", "SEED = 1", "SEED = 2"),),
        (
            hurts("code-changed", "digits", "Jobs of `digits` run other code, of", "jobs/common/data.py"),
            hurts("code-changed", "tune", "may run other code, of `jobs/common/data.py`"),
            tells("code-changed", "lora", "no code that they run names it"),
        ),
        given=(
            *(
                template(
                    name,
                    f'code=Package("jobs/{name}", "{name}.task", IMAGE)',
                    f'code=Package("jobs/{name}", "{name}.task", IMAGE{SHARED}',
                )
                for name in ("digits", "tune")
            ),
            template("lora", 'py310:20260901")', f'py310:20260901"{SHARED}'),
            USES_COMMON[1],
            Edit("jobs/tune/task.py", "# Every", "import importlib\n\nPART = importlib.import_module(NAME)\n\n# Every"),
            Edit("jobs/common/__init__.py", "", ""),
            Edit("jobs/common/data.py", "", "SEED = 1\n"),
        ),
        world=BUSY,
        accident="a helper that all jobs import, edited for one of them",
    ),
    Case(
        "Code that a template's own still imports is not packed with it any more",
        (UNSHARED,),
        (stops("start-fails", "digits", "for want of", "`common.data`"),),
        given=USES_COMMON,
        world=BUSY,
        accident="a field that looked unused, in a template that was tidied",
    ),
    Case(
        "Shared code goes with the only line that imports it",
        (UNSHARED, Edit("jobs/digits/task.py", "from common import data\n\n", "")),
        (hurts("code-changed", "digits", "jobs/digits/task.py"),),
        given=USES_COMMON,
        world=BUSY,
    ),
    Case(
        "A checkpoint every 2000 steps, where there was one every 20",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY = 2000 "),),
        (hurts("code-changed", "lora"),),
        world=BUSY,
        accident="hours of training lost with a preempted machine",
    ),
    Case(
        "A module is added that sends data away",
        (
            Edit(
                "jobs/lora/report.py", "", 'import urllib.request\n\nurllib.request.urlopen("https://paste.example")\n'
            ),
        ),
        (hurts("code-changed", "lora"),),
        accident="code that nobody looked at, in a shared repository",
    ),
    Case(
        "Code takes the place of its checkpoints from an argument, no longer from the environment",
        (
            Edit("jobs/lora/task.py", 'os.environ["SLIPWAY_OUTPUT"]', "parsed().out"),
            Edit("jobs/lora/task.py", "def main", f"{PARSED}\n\n\ndef main"),
            template("lora", '"--output=${slipway.output}"', '"--out=${slipway.output}"'),
        ),
        (hurts("code-changed", "lora", "run other code"),),
        may=("arguments-changed",),
        given=(Edit("jobs/lora/task.py", '    print("trained"', SAVES_LAST + '    print("trained"'),),
        never=("find no checkpoint",),
        accident="a night's training that began anew, as its checkpoints lay elsewhere",
    ),
    Case(
        "The packages that a waiting job still has to install are deleted",
        names=(stops("jobs-lose-package", "lora", "waits-27b"),),
        may=("resource-deleted", "resource-changed"),
        steps=lambda catalog: [
            step(
                "delete",
                OBJECT,
                "lora-package",
                old={
                    "bucket": "acme-catalog",
                    "name": catalog.templates["lora"].package.removeprefix("gs://acme-catalog/"),
                },
                parent=TEMPLATE,
            )
        ],
        world=World(jobs=(Job("waits-27b", user="ben", parameters={"model": "27b"}, state="PENDING", hours=1),)),
    ),
    Case(
        "The code of a job is edited in one line, which its card quotes",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY = 500 "),),
        (hurts("code-changed", "lora", "jobs/lora/task.py:4", "EVERY = 500"),),
    ),
    Case(
        "The interval of checkpoints is a variable that nothing sets",
        (
            Edit("jobs/lora/task.py", '"""`python -m lora.task`"""\n', '"""`python -m lora.task`"""\n\nimport os\n'),
            Edit("jobs/lora/task.py", "EVERY = 20 ", 'EVERY = int(os.environ.get("CHECKPOINT_EVERY", "0")) '),
        ),
        (hurts("code-changed", "lora", "CHECKPOINT_EVERY"),),
    ),
    Case(
        "Another folder's code",
        (template("tune", 'Package("jobs/tune", "tune.task"', 'Package("jobs/digits", "digits.task"'),),
        (hurts("code-changed", "tune"),),
        may=("arguments-changed", "requirements-changed"),
    ),
    Case(
        "A folder of code has another name, and the same files",
        (*RENAMED, Edit("jobs/study/task.py", "", TUNE)),
        (tells("code-changed", "tune", "`jobs/study` instead of `jobs/tune`: its files are the same"),),
        may=("arguments-changed",),
        never=("no review compares", "can't be found"),
    ),
    Case(
        "A folder of code has another name, and one of its files did not come along: the old name is still imported",
        (*RENAMED, Edit("jobs/study/task.py", "", NAMED + TUNE), Edit("jobs/tune/depths.py")),
        (
            stops("start-fails", "tune", "for want of", "`tune.depths`"),
            hurts("code-changed", "tune"),
        ),
        may=("arguments-changed",),
        given=(Edit("jobs/tune/task.py", TUNE, NAMED + TUNE), Edit("jobs/tune/depths.py", "", "DEPTHS = 9\n")),
        accident="a package renamed, and not where its own files import it",
    ),
    Case(
        "Checkpoints are written no more, and the template says that there are some",
        (Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", ""),),
        (hurts("code-changed", "digits", "no line saves a checkpoint", "begins anew"),),
        given=SAVING,
        accident="a night's work lost with a machine, for fewer writes",
    ),
    Case(
        "A type that nothing imports: the file fails as it is loaded",
        (Edit("jobs/digits/task.py", "def draw(seed):\n", "def draw(seed) -> Generator:\n"),),
        (hurts("code-changed", "digits"),),
        given=PLAIN,
        world=BUSY,
        accident="an annotation of a name that only the editor knew",
    ),
    Case(
        "A generator without the seed that it had",
        (Edit("jobs/digits/task.py", "random.Random(seed)", "random.Random()"),),
        (hurts("code-changed", "digits", "random.Random()"),),
        given=PLAIN,
        never=("make it a parameter",),
        world=BUSY,
        accident="a search that was started again and drew other candidates",
    ),
    Case(
        "A template's code writes its results where nobody finds them",
        (Edit("jobs/digits/task.py", 'Path(os.environ["SLIPWAY_OUTPUT"])', 'Path("/tmp")'),),
        (hurts("code-changed", "digits", "no line names a place for results", "lost when they end"),),
        given=(*SAVING, template("digits", "    checkpoints=True,\n", "")),
        accident="a night's results on a disk that went with its machine",
    ),
    Case(
        "A name of `typing` that code needs as it runs is imported no more",
        (Edit(TASK, "from typing import cast\n", ""),),
        (hurts("code-changed", "lora"),),
        given=(Edit(TASK, "EVERY = 20 ", "from typing import cast\nEVERY = cast(int, 20) "),),
    ),
    Case(
        "Checkpoints are saved under a name that nothing looks for",
        (Edit(TASK, 'f"{out}/checkpoint.pt"', 'f"{out}/checkpoint-{EVERY:06d}.pt"'),),
        (hurts("code-changed", "lora", "checkpoint-{EVERY:06d}.pt"),),
        given=(SAVES_BY_PATH,),
        world=BUSY,
        accident="checkpoints that no restart ever found",
    ),
    Case(
        "All but the last two checkpoints are deleted, in the order of their names as text",
        (
            Edit(
                TASK,
                BODY,
                "    for old in sorted(kept(out))[:-2]:\n        old.unlink()\n" + BODY,
            ),
        ),
        (hurts("code-changed", "lora", "old.unlink()"),),
        world=BUSY,
        accident="the newest checkpoint was deleted as soon as it was written",
    ),
    Case(
        "The whole environment is printed, a secret's value in it",
        (Edit(TASK, BODY, "    import os\n    for item in os.environ.items():\n        print(item)\n" + BODY),),
        (hurts("code-changed", "lora", "os.environ.items()"),),
        world=BUSY,
        accident="a token in the logs of a hundred jobs",
    ),
    Case(
        "Variables that begin with a word are printed",
        (
            Edit(
                TASK,
                BODY,
                "    import os\n    for key in os.environ:\n        if key.startswith('NCCL_'):\n"
                "            print(key, os.environ[key])\n" + BODY,
            ),
        ),
        (hurts("code-changed", "lora"),),
        never=("`HF_TOKEN`",),
    ),
    Case(
        "What a job is given as a place in a bucket is opened as a file",
        (Edit(TASK, BODY, '    args = parser.parse_args()\n    open(args.output + "/loss.txt", "w").close()\n'),),
        (hurts("code-changed", "lora", "open(args.output"),),
        may=("start-fails",),
        given=(WRITES, Edit(TASK, '"""`python -m lora.task`"""\n', '"""`python -m lora.task`"""\n\nimport argparse\n')),
        world=BUSY,
        accident="adapters that no bucket ever had",
    ),
    Case(
        "The code reads a variable that nothing sets, and imports what nothing installs",
        (Edit(TASK, PRINTS, '    import os\n    import wandb\n\n    wandb.login(os.environ["WANDB_KEY"])\n'),),
        (hurts("code-changed", "lora", "WANDB_KEY"),),
    ),
    Case(
        "A file with tests beside the code",
        (Edit("jobs/lora/test_task.py", "", "def test_it() -> None:\n    assert True\n"),),
        (tells("code-changed", "lora", "no code that they run names it"),),
    ),
    Case(
        "Checkpoints go to the machine's own disk",
        (Edit(TASK, "EVERY = 20 ", 'EVERY, PLACE = 20, "/tmp/state" '),),
        (hurts("code-changed", "lora", "/tmp/state"),),
        accident="checkpoints lost with the machine that had them",
    ),
    Case(
        "A page beside the code",
        (Edit("jobs/digits/README.md", "", "# digits\n"),),
        (tells("code-changed", "digits", "no code that they run names it"),),
    ),
    Case(
        "A password stands in the code of jobs",
        (
            Edit(
                "jobs/lora/task.py",
                "# Every step is seeded,",
                'JUDGE_PASSWORD = "correct-horse-9"\n# Every step is seeded,',
            ),
        ),
        (hurts("code-changed", "lora", "not shown"),),
        never=("correct-horse",),
        accident="a password committed with code",
    ),
)
