"""Code of a job against its template: arguments, modules, variables, Python and checkpoints. # N14"""

import pytest

from slipway.model.catalog.template import Parameter, Study, Template
from slipway.model.findings.finding import Grade
from tests.slipway.reviewing.builders import offer, request, template, worker_pool
from tests.slipway.reviewing.edited_files import CODE, TASK, edit, edited, found, lora


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('("--model"', '("--size"', "does not know the argument `--model`"),
        ('("a", "b")', '("b", "c")', "does not accept `--model=a`"),
        (
            "args =",
            'p.add_argument("--data", required=True)\nargs =',
            "the template does not pass `--data`, which `lora.task` requires",
        ),
        ("import argparse", "import tomllib, argparse", "`tomllib` needs Python 3.11"),
        ("args =", "try: pass\nexcept* ValueError: pass\nargs =", "can't parse module `lora.task`"),
        ("import argparse", "from lora import data\nimport argparse", "`lora.data`, which does not exist"),
        ("args =", 'os.environ["SLIPWAY_INPUT_DATA"]\nargs =', "variable `SLIPWAY_INPUT_DATA`"),
        ('/ "ckpt"', '/ "state"', "`state` instead of `ckpt`"),
        ("torch.load(OUT)\n", "", "no line restores a checkpoint"),
        ("os.replace(OUT, OUT)\n", "", "no line saves a checkpoint"),
        ('os.environ["SLIPWAY_OUTPUT"]', '"/tmp"', "results are lost"),
    ],
)
def test_code_that_no_longer_matches_its_template(old: str, new: str, words: str) -> None:
    edits, broken = found(edit(TASK, CODE, old, new), lora("--model=a"))
    assert (edits.kind, edits.subject) == ("job-code-changed", "template lora") and TASK in edits.sentence
    assert (broken.kind, broken.grade) == ("code-contract-broken", Grade.BLOCKING)
    assert words in broken.sentence


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (lora("--model=a"), lora("--model=a", "--lr=1"), "does not know the argument `--lr`"),
        (lora("--model=a"), lora("--model=a", requirements=("numpy==2.3.1",)), "`numpy==2.3.1` needs Python 3.11"),
        (lora(), lora("--model=${m}", parameters=[Parameter("m", "str", choices=("a", "z"))]), "`--model=z`"),
    ],
)
def test_a_template_that_no_longer_matches_its_code(old: Template, new: Template, words: str) -> None:
    files = edited({TASK: CODE, "templates/lora.py": "x = 1\n"}, {TASK: CODE, "templates/lora.py": "x = 2\n"})
    (broken,) = [finding for finding in found(files, old, new) if finding.kind == "code-contract-broken"]
    assert words in broken.sentence


def test_a_variable_that_the_image_may_set_is_a_warning_and_one_that_the_template_drops_is_blocking() -> None:
    code = f'{CODE}os.environ["TOKENS"]\n'
    (_, new) = found(edited({TASK: CODE}, {TASK: code}), lora("--model=a"))
    files = edited({TASK: code, "templates/lora.py": "1"}, {TASK: code, "templates/lora.py": "2"})
    (dropped,) = found(files, lora("--model=a", env={"TOKENS": "8"}), lora("--model=a"))
    assert (new.grade, dropped.grade) == (Grade.WARNING, Grade.BLOCKING)


OUTPUT = "${slipway.output}"
READS = 'p.add_argument("--out")\nopen(args.out)\n'


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        (lora(), lora(requirements=("torch==2.4.1+cu121",)), CODE, "PyPI does not have `torch==2.4.1+cu121`"),
        (lora(requirements=("peft==1",)), lora(), f"import peft\n{CODE}", "the code imports `peft`"),
        (lora(f"--out={OUTPUT}"), lora(), READS, "`--out` told jobs their place"),
        (lora(env={"CKPT_DIR": "/gcs/a"}), lora(env={"CKPT_DIR": "/tmp/a"}), CODE, "`CKPT_DIR` is `/tmp/a`"),
    ],
)
def test_requirements_and_arguments_that_the_code_needs_are_kept(
    old: Template, new: Template, code: str, words: str
) -> None:
    files = edited({TASK: code, "templates/lora.py": "1"}, {TASK: code, "templates/lora.py": "2"})
    (broken,) = [finding for finding in found(files, old, new) if finding.kind == "code-contract-broken"]
    assert words in broken.sentence and broken.grade is Grade.BLOCKING


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (lora(), lora(requirements=("--extra-index-url https://x.example/cu121", "torch==2.4.1+cu121")), CODE),
        (lora(requirements=("torch==2.4.1",)), lora(), f"import torch\n{CODE}"),
        (lora(requirements=("peft==1",)), lora(), CODE),
        (lora(f"--out={OUTPUT}"), lora(), f"{READS}os.environ.get('SLIPWAY_OUTPUT')\n"),
        (template("lora"), template("lora", requirements=("numpy==2.3.1",)), CODE),
    ],
)
def test_what_the_image_has_and_what_nobody_knows_is_no_broken_contract(
    old: Template, new: Template, code: str
) -> None:
    files = edited({TASK: code, "templates/lora.py": "1"}, {TASK: code, "templates/lora.py": "2"})
    assert [finding for finding in found(files, old, new) if finding.kind == "code-contract-broken"] == []


def test_a_shared_module_that_goes_and_is_imported() -> None:
    code = {TASK: f"from common import data\n{CODE}"}
    shared = lora("--model=a", shared=("jobs/common",))
    _, broken = found(edited({**code, "jobs/common/data.py": "x = 1\n"}, code), shared)
    assert "`common.data`, which does not exist" in broken.sentence


@pytest.mark.parametrize(
    "moved", ['OUT = Path("/tmp/out") / "ckpt"', 'SHARDS = "gs://data/shards"\nOUT = Path(tempfile.mkdtemp()) / "ckpt"']
)
def test_results_that_go_to_the_machine_s_disk(moved: str) -> None:
    code = f'SHARDS = "gs://data/shards"\n{CODE}p.add_argument("--output")\n'
    _, broken = found(edit(TASK, code, 'OUT = Path(os.environ["SLIPWAY_OUTPUT"]) / "ckpt"', moved), lora("--model=a"))
    assert "they go to the machine's own disk" in broken.sentence


@pytest.mark.parametrize(
    ("before", "after", "is_broken"),
    [
        ('print("loss")', 'print("x")', True),
        ('print("loss")', "for name, value in scores.items(): report(name, value)", False),
        ("report(*sys.stdin)", "report(*sys.argv)", False),
    ],
)
def test_a_metric_is_missing_only_if_the_code_named_it_before(before: str, after: str, is_broken: bool) -> None:
    study = Study(4, 2, "", (("loss", "minimize"),), ())
    findings = found(edit(TASK, f"{CODE}{before}\n", before, after), lora("--model=a", study=study))
    assert any("names the metric `loss`" in finding.sentence for finding in findings) == is_broken


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (("--model=a",), "role `workers` does not pass `--trees`, which `lora.task` requires"),
        (("--trees=1", "--model=c"), "`lora.task` does not accept `--model=c` of role `workers`"),
        (("--trees=1", "--lr=1"), "`lora.task` does not know the argument `--lr` of role `workers`"),
    ],
)
def test_the_role_that_passes_other_arguments_is_named(passed: tuple[str, ...], words: str) -> None:
    def both(*args: str) -> Template:
        each = (("--trees=1", "--model=a"), args)
        pools = [worker_pool(args=["--module", "lora.task", "--", *arguments]) for arguments in each]
        return template("lora", offer(request=request(*pools), roles=("head", "workers")))

    code = CODE.replace("args =", 'p.add_argument("--trees", required=True)\nargs =')
    files = edited({TASK: code, "templates/lora.py": "1"}, {TASK: code, "templates/lora.py": "2"})
    (broken,) = found(files, both("--trees=2"), both(*passed))
    assert broken.sentence == f"new jobs fail: {words}" and broken.details == ()
