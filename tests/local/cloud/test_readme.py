"""The README for people who use nothing else of Slipway: its blocks are typed, its tables are true."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.local.conftest import FAST, ROOT, LocalCloud

CLOUD = ROOT / "local" / "cloud"
README = (CLOUD / "README.md").read_text("utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", README, re.M | re.S)
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


def typed(cloud: LocalCloud, folder: Path, script: str) -> str:
    """What a shell prints that is told all that the script says. It must end well."""
    path = f"{Path(sys.executable).parent}:{cloud.base_env()['PATH']}"
    environment = {
        **cloud.base_env(),
        "PATH": path,
        "CLOUDSDK_CONFIG": str(folder),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    }
    done = subprocess.run(
        ["bash", "-c", "set -eu\n" + script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.journey
def test_the_blocks_run_from_start_to_stop(own_cloud: LocalCloud, tmp_path: Path) -> None:
    start, rest, gcloud, stop = SHELL
    own_cloud.up(*[word for setting in FAST for word in ("--set", setting)])
    (tmp_path / "script.py").write_text("".join(PYTHON))
    printed = typed(own_cloud, tmp_path, f"{start}{rest}python {tmp_path / 'script.py'}\n")
    assert '"displayName":"hello"' in printed
    assert printed.endswith("JOB_STATE_SUCCEEDED\n")
    if shutil.which("gcloud"):
        printed = typed(own_cloud, tmp_path, start + gcloud)
        assert "displayName: hello" in printed
    assert "local cloud stopped" in typed(own_cloud, tmp_path, stop)


def test_every_folder_has_a_row() -> None:
    rows = re.findall(r"^\| ((?:`[\w/]+` ?)+)\|", README, re.M)
    named = {name for row in rows for name in re.findall(r"`([\w/]+)`", row)}
    folders = {str(path.parent.relative_to(CLOUD)) for path in CLOUD.glob("*/**/__init__.py")}
    assert named == folders - {"vertex"}


def test_every_file_that_is_named_is_there() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", README.split("## Where things are")[1])
    others = {"things.py", "kinds.py", "records.py", "life.py", "work.py", "test_honesty.py"}  # examples and roles
    known = {str(path.relative_to(at)) for at in (CLOUD, ROOT / "tests") for path in at.rglob("*.py")}
    tops = known | {f"tests/{name}" for name in known} | {"routes.py", "rules.py"}
    assert set(named) - others <= tops
