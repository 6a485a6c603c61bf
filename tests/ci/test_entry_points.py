"""Programs that users run report an output that can't be written in one way: by `exit_after` of their project."""

import ast
from pathlib import Path

import pytest

from tests.python_files import ROOT

FOLDERS = ("slipway", "components", "policy", "local", "journey", "bench", "vertex-local/vertex_local")
NOT_FOR_USERS = {
    "slipway/__main__.py": "front/cli opens stdout by itself, because it has messages of its own",
    "slipway/kfp.py": "a step of a pipeline: stdout is its log",
    "slipway/authoring/packages/slipway_launcher.py": "runs in jobs: stdout is the job's log",
    "slipway/authoring/packages/slipway_session.py": "runs in jobs: stdout is the job's log",
    "slipway/authoring/packages/slipway_warm.py": "runs in jobs: stdout is the job's log",
    "components/__main__.py": "Pulumi reads the port, and starts and ends the process",
    "policy/__main__.py": "Pulumi reads the port, and starts and ends the process",
    "local/plugin/__main__.py": "Pulumi reads the port, and starts and ends the process",
    "local/plugin/official.py": "Pulumi reads the port, and starts and ends the process",
    "bench/gauge.py": "prints nothing: its program has descriptors of its own",
    "bench/faults/nursery.py": "another program of the bench reads what it prints",
    "vertex-local/vertex_local/images/bytecode.py": "prints nothing: the local cloud runs it in an image",
    "vertex-local/vertex_local/nodes/mounts.py": "prints nothing: it becomes the command of a job",
    "vertex-local/vertex_local/server/main.py": "a background process: it prints nothing",
    "vertex-local/vertex_local/nodes/runner.py": "a background process: it prints nothing",
    "vertex-local/vertex_local/nodes/warm_runner.py": "a background process: the local cloud reads what it prints",
}


def guard(tree: ast.Module) -> ast.If | None:
    """Return the statement `if __name__ == "__main__":` of a module."""
    statements = (node for node in tree.body if isinstance(node, ast.If))
    return next((node for node in statements if ast.unparse(node.test) == "__name__ == '__main__'"), None)


def programs() -> dict[str, str]:
    """Return the text that each module runs as a program, by path."""
    found = {}
    for path in sorted(path for folder in FOLDERS for path in Path(ROOT, folder).rglob("*.py")):
        statement = guard(ast.parse(path.read_text("utf-8")))
        if statement is not None:
            found[str(path.relative_to(ROOT))] = ast.unparse(statement)
    return found


@pytest.mark.parametrize("path", sorted(programs().keys() - NOT_FOR_USERS.keys()))
def test_a_program_reports_an_output_that_can_not_be_written(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert "exit_after(" in text, f"{path} prints for users: run its main function by exit_after"


def test_every_exception_is_still_a_program() -> None:
    assert NOT_FOR_USERS.keys() - programs().keys() == set()
