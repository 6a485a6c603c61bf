"""docs/your-program.md, "Try it on a laptop", typed: a program runs by its own virtual environment. # N4"""

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.checkouts.shell import bash
from tests.docs.test_components import PROGRAM, lay_out
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

_TYPED = (ROOT / "docs" / "your-program.md").read_text("utf-8").partition("## Try it on a laptop")[2]


def test_a_program_is_run_by_its_own_virtual_environment(deploying: Path, tmp_path: Path) -> None:
    """`make shell` had the repository's Python run it, which has no `slipway.components`."""
    lay_out(tmp_path)
    (tmp_path / ".venv").symlink_to(deploying)
    (tmp_path / "__main__.py").write_text(PROGRAM)
    (tmp_path / "Pulumi.yaml").write_text("name: lab\nruntime: {name: python, options: {virtualenv: .venv}}\n")
    environ = {**os.environ, "VERTEX_LOCAL_STATE": str(tmp_path / "cloud"), "VERTEX_LOCAL_PORT": "0"}
    lines = _TYPED.partition("```sh\n")[2].partition("```")[0].replace("PATH_OF_THE_REPOSITORY", shlex.quote(str(ROOT)))
    try:
        done = bash(f"set -e\n{lines.replace('pulumi up', 'pulumi up --yes --skip-preview')}", tmp_path, environ)
        assert done.code == 0 and "gs://local-project-lab--dev--ml-catalog/catalog.json" in done.out, done.out
    finally:
        down = shlex.quote(str(Path(sys.executable).with_name("vertex-local")))
        assert bash(f"{down} down", tmp_path, environ).code == 0
