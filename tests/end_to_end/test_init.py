"""In an empty folder, with the wheel and its extra alone, `slipway init` makes a repository that checks itself. # D8"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.laptop import UV, Laptop

pytestmark = pytest.mark.journey
FLAGS = ("--project", "acme-ml-dev", "--submitter", "group:ml@acme.example", "--team", "@acme/ml", "--yes")


@pytest.fixture
def laptop(deploying: Path, tmp_path: Path) -> Laptop:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return Laptop(deploying / "bin", tmp_path, {**kept, "NO_COLOR": "1"})


def test_an_empty_folder_becomes_a_checked_repository(laptop: Laptop) -> None:
    laptop.well("init", "acme-training", *FLAGS)
    made = Laptop(laptop.programs, laptop.folder / "acme-training", laptop.environ)
    assert "ok  dev" in made.well("check").out
    tested = made.run("python", "tests/test_stacks.py")
    assert tested.code == 0 and "Ran 1 test" in tested.err, tested.said
    pins = (made.folder / "requirements.txt").read_text()
    assert re.search(r"^slipway-vertex\[deploy\] @ file://\S+\.whl#sha256=[0-9a-f]{64}$", pins, re.MULTILINE)

    found = made.python("import slipway.components.program as program; print(program.__file__)")
    assert Path(found).is_relative_to(laptop.programs.parent), "no file of this checkout"

    stack = made.folder / "stacks" / "Pulumi.dev.yaml"
    stack.write_text(stack.read_text().replace("n1-standard-4", "n1-standard-8"))
    mistaken = made.run("python", "tests/test_stacks.py")
    assert mistaken.code == 1 and "hello" in mistaken.err, mistaken.said


def test_it_is_played_reviewed_and_submitted_to_on_a_laptop(laptop: Laptop) -> None:
    """As its README has it: `make` installs the pinned wheel, and nothing of this checkout is on any path."""
    programs = laptop.folder / "bin"
    programs.mkdir()
    (programs / "uv").symlink_to(UV)
    path = os.pathsep.join([str(programs), laptop.environ["PATH"]])
    environ = {**laptop.environ, "PATH": path, "SLIPWAY_LOCAL_STATE": str(laptop.folder / "state")}
    laptop.well("init", "our training", *FLAGS)
    made = laptop.folder / "our training"

    def typed(line: str) -> str:
        done = subprocess.run(["bash", "-ec", line], cwd=made, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    author = "-c user.name=ada -c user.email=ada@acme.example"
    typed(f"git init -q -b main . && git add --all && git {author} commit -qm 'First stack'")
    try:
        assert "ok  dev" in typed("make check")
        assert "Ran 1 test" in typed("make test")
        first = subprocess.run(
            ["make", "review", "BASE=main"], cwd=made, env=environ, capture_output=True, text=True, check=False
        )
        assert first.returncode and "fix: make demo STACK=dev" in first.stderr, first.stderr
        assert "demo finished" in typed("make demo")
        stack = made / "stacks" / "Pulumi.dev.yaml"
        stack.write_text(stack.read_text().replace("max: 2", "max: 4"))
        assert "max 2 → 4" in typed("make review BASE=main")
        person = (
            'eval "$(.venv/bin/python -P -m slipway.local env --as submitter --stack dev)"; export SLIPWAY_USER=ada'
        )
        submit = "slipway use gs://acme-ml-dev-dev-catalog; slipway submit hello -p who=ada --follow"
        assert "hello ada" in typed(f"{person}; {submit}")
        assert typed("git status --short").splitlines() == [" M stacks/Pulumi.dev.yaml"]
    finally:
        typed("make demo-down")


def test_its_program_deploys_from_the_wheel(laptop: Laptop, checkout: Checkout) -> None:
    laptop.well("init", "acme-training", *FLAGS)
    shutil.copy(laptop.folder / "acme-training" / "__main__.py", checkout.folder)
    checkout.write()
    path = os.pathsep.join([str(laptop.programs), checkout.environ("deployer")["PATH"]])
    done = checkout.pulumi("up", PATH=path, PYTHONPATH="")
    assert done.code == 0, done.said
    assert any("slipway:components:Catalog::" in one["urn"] for one in checkout.resources())
