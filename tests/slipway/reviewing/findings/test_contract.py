"""Code of a job against its template: arguments, modules, variables, Python and checkpoints. # N14"""

import pytest

from slipway.model.catalog.template import Parameter, Template
from slipway.model.findings.finding import Grade
from tests.slipway.reviewing.edited_files import CODE, TASK, edit, edited, found, lora


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('("--model"', '("--size"', "does not know the argument `--model`"),
        ('("a", "b")', '("b", "c")', "does not accept `--model=a`"),
        ("args =", 'p.add_argument("--data", required=True)\nargs =', "requires `--data`"),
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
