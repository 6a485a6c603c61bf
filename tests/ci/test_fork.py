"""A team's edits of stacks, templates and owners turn no test red: those that look at them are run in forks."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ci import fork

LOOKING = (
    "tests/ci/test_deployments.py",
    "tests/ci/test_owners.py",
    "tests/ci/test_repository.py",
    "tests/ci/test_pull_requests.py",
    "tests/ci/test_workflows.py",
    "tests/docs/test_architecture.py",
    "tests/docs/test_site.py",
    "tests/docs/test_templates.py",
    "tests/jobs",
    "tests/slipway/deploying/deployment/test_publication.py",
    "tests/slipway/deploying/deployment/test_shipped_stacks.py",
    "tests/slipway/reviewing/test_shipped_templates.py",
    "tests/slipway/authoring/stack/test_schema.py",
    "tests/slipway/authoring/template/test_job_template.py",
    "tests/templates",
)
# Seconds each, and of nothing that a team edits here.
SLOW = "actionlint or map_of_the_product"


@pytest.mark.long
@pytest.mark.parametrize("edited", [fork.renamed, fork.replaced], ids=lambda edited: edited.__name__)
def test_a_fork_is_green(edited: Callable[[Path], None], tmp_path: Path) -> None:
    edited(tmp_path)
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not journey")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environ |= {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*command, "-k", f"not ({SLOW})", *LOOKING], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    for words in (("check",), ("format", "--check")):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "-q", "."], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
