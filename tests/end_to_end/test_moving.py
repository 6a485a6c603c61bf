"""A deployed stack goes on in a small repository of its team's own, by the commands of docs/upgrading.md. # D8"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.laptop import Laptop
from tests.docs.test_upgrading import moving

pytestmark = pytest.mark.journey


@pytest.mark.deployed
def test_a_stack_that_moved_needs_no_change(checkout: Checkout, deploying: Path) -> None:
    done = moved(checkout, deploying / "bin").pulumi("preview", "--expect-no-changes")
    assert done.code == 0, done.said


def moved(fork: Checkout, programs: Path) -> Checkout:
    """The stack in a small repository, with the wheel for its program."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    laptop = Laptop(programs, fork.folder, {**environ, "PATH": f"{programs}{os.pathsep}{environ['PATH']}"})
    done = laptop.run("/bin/bash", "-ec", moving())
    assert done.code == 0, done.said
    path = os.pathsep.join([str(programs), fork.environ("deployer")["PATH"]])
    variables = {**fork.variables, "PATH": path, "PYTHONPATH": ""}
    return replace(fork, folder=fork.folder.with_name("acme-training"), variables=variables)
