"""The README for people who use nothing else of Slipway: its blocks are typed, its tables are true."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.conftest import FAST, ROOT, LocalCloud

CLOUD = ROOT / "local" / "cloud"
README = (CLOUD / "README.md").read_text("utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", README, re.M | re.S)
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


def typed(cloud: LocalCloud, folder: Path, script: str) -> str:
    """Return what a shell prints in a folder when it runs the script, which must end well."""
    path = f"{Path(sys.executable).parent}:{cloud.base_env()['PATH']}"
    environment = {
        **cloud.base_env(),
        "PATH": path,
        "CLOUDSDK_CONFIG": str(folder.parent / "gcloud"),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    }
    done = subprocess.run(
        ["bash", "-c", "set -eu\n" + script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in which a cloud is found and stopped that the blocks have started."""
    folder = tmp_path / "empty"
    folder.mkdir()
    yield folder
    LocalCloud(folder / "cloud-state").local("down")


@pytest.mark.journey
def test_the_blocks_run_from_start_to_stop_in_an_empty_folder(empty: Path) -> None:
    start, rest, gcloud, stop = SHELL
    cloud = LocalCloud(empty / "cloud-state")
    cloud.up(*[word for setting in FAST for word in ("--set", setting)])
    script = empty.parent / "script.py"
    script.write_text("".join(PYTHON))
    printed = typed(cloud, empty, f"{start}{rest}python {script}\n")
    assert '"displayName":"hello"' in printed
    assert printed.endswith("JOB_STATE_SUCCEEDED\n")
    if shutil.which("gcloud"):
        printed = typed(cloud, empty, start + gcloud)
        assert "displayName: hello" in printed
    own = start.splitlines()[0] + "\n"
    assert "local cloud stopped" in typed(cloud, empty, own + stop)
    assert {path.name for path in empty.iterdir()} <= {"cloud-state", "hello.txt"}


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
