"""Each command that a fix or a hint names is taken by its verb. `tests.checkouts.shell` holds printed errors to it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkouts.fixes import problem_of, wrong_commands, wrong_fixes

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("slipway", "components", "policy")


def fixes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the expressions that become a fix or a hint."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "fix":
            yield node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "hint":
            yield from node.args
        elif isinstance(node, ast.Assign) and any(_named(target) == "fix" for target in node.targets):
            yield node.value


def _named(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")


def texts(expression: ast.AST) -> Iterator[str]:
    """Yield the texts of an expression, with X in place of each value."""
    if isinstance(expression, ast.JoinedStr):
        text = ""
        for part in expression.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
            elif not text or text[-1] in " '\"=/:(":  # Another value may be empty, or end a word.
                text += "X"
        yield text
    elif isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
        yield "".join(next(texts(side), "X") for side in (expression.left, expression.right))
    elif isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        yield expression.value
    else:
        for child in ast.iter_child_nodes(expression):
            yield from texts(child)


def test_every_fix_in_the_product_is_parsed_by_the_verb_that_it_names() -> None:
    wrong, count = [], 0
    for file in (file for name in PRODUCT for file in sorted((ROOT / name).rglob("*.py"))):
        for text in (text for fix in fixes(ast.parse(file.read_text("utf-8"))) for text in texts(fix)):
            count += "slipway " in text
            wrong += [f"{file.relative_to(ROOT)}: {problem}" for problem in wrong_commands(text)]
    assert wrong == [] and count > 100


@pytest.mark.parametrize(
    ("command", "is_taken"),
    [
        ("jobs logs X --follow", True),
        ("jobs list shows the newest", True),
        ("submit X -p …", True),
        ("""submit X -p 'code=print('"'"'it is $(HOME); no'"'"')' --capacity spot""", True),
        ("""submit X -p 'code=print(1)' --capacty spot""", False),
        ("run --max-run 2h -- python train.py --lr 0.1", True),
        ("jobs lists", False),
        ("jobs logs X --folow", False),
        ("jobs wait", False),
        ("jobs list --state asleep", False),
        ("jobs show X Y", False),
    ],
)
def test_a_command_is_held_to_its_verb(command: str, is_taken: bool) -> None:
    assert (problem_of(command) == "") == is_taken
    said = f"error: x\n  fix: see it (slipway jobs list), or\n       slipway {command}\n"
    assert bool(wrong_fixes(said)) != is_taken
