"""Errors as a call of Python and as the command tell them."""

import ast
import pickle
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.base.errors import AnswerUnknown, ConfigError, together
from slipway.front.cli.terminal.flags import as_flags
from slipway.google.failures import Answer, Call, CloudError, Denied, failure

ROOT = Path(__file__).resolve().parents[3]
OURS = ("slipway", "components", "policy", "local", "vertex-local/vertex_local", "journey")


def test_arguments_are_spelled_as_they_were_given() -> None:
    error = ConfigError("no", fix=("take ", {"template": "hello", "kind": "custom-job", "wait_for": {"spot": "1 h"}}))
    assert error.fix == "take slipway.submit('hello', kind='custom-job', wait_for={'spot': '1 h'})"
    error.spell(as_flags)
    assert error.fix.endswith("hello --as custom-job --wait-for 'spot=1 h'")
    file = ConfigError("no", fix=({"runs": "grid.yaml"},))
    assert file.fix == "runs='grid.yaml'"
    file.spell(as_flags)
    assert file.fix == "--sweep grid.yaml"


@pytest.mark.parametrize(
    ("name", "value", "in_python", "typed"),
    [
        ("lr", "VALUE", "lr='VALUE'", "-p lr=VALUE"),
        ("learning-rate", "0.1", "**{'learning-rate': '0.1'}", "-p learning-rate=0.1"),
        ("command", "bash -c 'a && b'", '''command="bash -c 'a && b'"''', '''-p command="bash -c 'a && b'"'''),
        ("command", "echo $HOME", "command='echo $HOME'", "-p 'command=echo $HOME'"),
    ],
)
def test_parameters_are_spelled_as_they_were_given(name: str, value: str, in_python: str, typed: str) -> None:
    error = ConfigError("no", fix=({"params": {name: value}}, ", so"))
    assert error.fix == f"{in_python}, so"
    error.spell(as_flags)
    assert error.fix == f"{typed}, so"
    (given,) = shlex.split(typed)[1:]
    assert given == f"{name}={value}"


def test_several_fixes_are_told_each_once() -> None:
    error = ConfigError("no", fix=together(["one", ({"yes": True}, ", so"), "one", ({"yes": True}, ", so")]))
    assert error.fix == "one\nyes=True, so"


def test_a_fix_without_arguments_stays_as_it_is() -> None:
    for error in (ConfigError("no", fix="slipway templates"), AnswerUnknown("lost", risk="it may run twice")):
        if isinstance(error, AnswerUnknown):
            error.to_go_on("again")
        fix = error.fix
        error.spell(as_flags)
        assert error.fix == fix != ""


def test_no_line_is_without_end_but_a_fix_to_copy() -> None:
    lines = str(ConfigError("a" * 9000, why=f"{'b' * 9000}\nand more", fix="c" * 9000)).splitlines()
    assert [len(line) for line in lines[:2]] == [2001, len("  why: ") + 2001]
    assert lines[2:] == ["       and more", f"  fix: {'c' * 9000}"]


def test_what_would_act_on_a_terminal_is_told_as_its_number() -> None:
    """Also by `pulumi up`, which shows the text as it is."""
    told = str(ConfigError("\x1b[2Jno", why="a\u202eb\r\n\tc", fix="d\x9b"))
    assert told.splitlines() == ["\\x1b[2Jno", "  why: a\\u202eb\\r", "       \tc", "  fix: d\\x9b"]


def test_an_error_passes_from_one_process_to_another() -> None:  # N12
    """A `multiprocessing.Pool` waited for ever for one that was raised in it."""
    lost = AnswerUnknown("lost", why="a\nb", risk="it may run twice")
    denied = Denied(Call("do it"), "it was so", answer=Answer(403, "", "no"), role="roles/viewer")
    for error in (lost, denied, ConfigError("no", fix=("take ", {"kind": "custom-job"}))):
        error.add_note("what was sent stays")
        passed = pickle.loads(pickle.dumps(error))
        assert (type(passed), str(passed), vars(passed)) == (type(error), str(error), vars(error))
        passed.spell(as_flags)
        assert "--as custom-job" in passed.fix or passed.fix == error.fix


def kinds(of: type[CloudError] = CloudError) -> Iterator[type[CloudError]]:
    yield of
    for kind in of.__subclasses__():
        yield from kinds(kind)


@pytest.mark.parametrize("kind", [*kinds()])
def test_every_failure_of_an_api_names_a_way_out(kind: type[CloudError]) -> None:
    assert kind(Call("do it"), "it was so").fix


@pytest.mark.parametrize("words", ["", "The PersistentResource does not exist.", "Permission denied on resource 'x'"])
def test_every_refusal_names_a_way_out(words: str) -> None:
    """A submission after a destroy ended with "The PersistentResource does not exist." and nothing else."""
    for status in (*range(400, 452), *range(500, 512)):
        assert failure(Call("do it"), Answer(status, "", words)).fix, status


def sources(word: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield our files that have a word, by name; the others need no parsing."""
    for file in (file for folder in OURS for file in (ROOT / folder).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if word in text:
            yield str(file.relative_to(ROOT)), ast.parse(text)


def test_no_error_is_made_with_an_empty_way_out() -> None:
    """Types demand that each has one. Errors in a stack file have one for each mistake."""
    found = {f"{file}: {call}" for file, tree in sources("fix=") for call in _without_fix(tree)}
    assert found == {
        "slipway/authoring/stack/yaml_file.py: super().__init__(count + '\\n'.join(in_words(mistakes)), fix='')"
    }


def test_an_error_that_is_text_has_a_way_out() -> None:
    texts = [(file, text) for file, tree in sources("error: ") for text in _texts(tree)]
    texts = [(file, text) for file, text in texts if text.startswith("error: ") and "\n" in text]
    assert len(texts) > 10 and [(file, text) for file, text in texts if "fix: " not in text] == []


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(value.value) if isinstance(value, ast.Constant) else "…" for value in node.values)


def _without_fix(tree: ast.Module) -> Iterator[str]:
    """Yield the calls that make an error whose `fix` may be an empty text, as far as their function tells."""
    for function in (error for error in ast.walk(tree) if isinstance(error, ast.FunctionDef | ast.AsyncFunctionDef)):
        nodes = list(ast.walk(function))
        assigned = [node for node in nodes if isinstance(node, ast.Assign)]
        named = {target.id: node.value for node in assigned for target in node.targets if isinstance(target, ast.Name)}
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            if any(keyword.arg == "fix" and _may_be_empty(keyword.value, named) for keyword in call.keywords):
                called = ast.unparse(call.func)
                if called == "super().__init__" or called[:1].isupper():
                    yield ast.unparse(call)


def _may_be_empty(value: ast.expr, named: dict[str, ast.expr]) -> bool:
    match value:
        case ast.Constant():
            return value.value == ""
        case ast.IfExp():
            return _may_be_empty(value.body, named) or _may_be_empty(value.orelse, named)
        case ast.BoolOp(op=ast.Or()):
            return _may_be_empty(value.values[-1], named)
        case ast.Name():
            return value.id in named and _may_be_empty(named[value.id], {})
        case _:
            return False
