"""The pages of the local cloud say per method what is faithful and what is simplified: neither more nor less."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.cloud.router import Router
from local.cloud.server.main import load_services
from local.cloud.settings import Settings
from local.cloud.world import open_world
from tests.local.cloud.methods import examples
from tests.local.conftest import ROOT, LocalCloud

GUIDE, METHODS = ((ROOT / "docs" / f"{name}.md").read_text() for name in ("local-cloud", "local-cloud-fidelity"))
ROWS = dict(re.findall(r"^\| ((?:\w+\.)+\w+) \| (faithful|simplified) \|", METHODS, re.M))
APIS = (
    "storage.v1",
    "iam.v1",
    "iamcredentials.v1",
    "cloudresourcemanager.v1",
    "cloudresourcemanager.v3",
    "logging.v2",
    "serviceusage.v1",
    "secretmanager.v1",
    "monitoring.v3",
    "cloudquotas.v1",
    "cloudquotas.v1beta",
)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Router:
    world = open_world(tmp_path_factory.mktemp("world"))
    return Router([route for service in load_services() for route in service.routes(world)])


def served(router: Router, api: str) -> set[str]:
    return {
        name
        for name, method, path in examples(api)
        if router.find(method, path.replace("/x/x/services", "/projects/x/services"))
    }


@pytest.mark.parametrize("api", APIS)
def test_every_method_that_is_served_has_a_row(router: Router, api: str) -> None:
    found = served(router, api)
    assert found and found <= set(ROWS), found - set(ROWS)


def test_every_method_of_vertex_ai_that_is_served_is_named_with_its_collection(router: Router) -> None:
    """Its rows are in words, several methods to one, so that whether they tell the truth is for a reader."""
    rows = [line for line in METHODS.splitlines() if line.startswith("| ")]
    found = [name.split(".")[-2:] for name in served(router, "aiplatform.v1")]
    assert found
    assert [
        f"{collection}.{method}"
        for collection, method in found
        if not any(f"`{collection}" in row and re.search(rf"\b{method}\b", row) for row in rows)
    ] == []


def test_every_row_is_of_a_method_that_is_served(router: Router) -> None:
    ours = {name for api in APIS for name in served(router, api)}
    heads = {name.partition(".")[0] for name in ours}
    assert {name for name in ROWS if name.partition(".")[0] in heads} == ours


def test_every_setting_of_the_base_has_a_row() -> None:
    table = set(re.findall(r"^\| `([\w.]+)[^|]*` \|", GUIDE, re.M))
    assert {name.partition(".")[0] for name in table} >= set(Settings.__annotations__)


def test_the_commands_of_the_guide_exist() -> None:
    from local.cli import cli

    named = set(re.findall(r"^\| `(up|down|env|status|images|cache|scenario|kill|secret)\b", GUIDE, re.M))
    assert named == set(cli.commands) and Path(ROOT / "local" / "cloud" / "access" / "roles.toml").exists()


@pytest.mark.journey
def test_the_blocks_of_the_guide_run(own_cloud: LocalCloud) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.M | re.S)
    path = f"{Path(sys.executable).parent}:{own_cloud.base_env()['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "set -eu\n" + "".join(blocks)],
        cwd=ROOT,
        env={**own_cloud.base_env(), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "local cloud started" in done.stdout and "local cloud stopped" in done.stdout


# --- The README for people who use nothing else of Slipway: its blocks are typed, its tables are true.


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
    cloud.fast()
    script = empty.parent / "script.py"
    script.write_text("".join(PYTHON))
    of_gcloud = gcloud if shutil.which("gcloud") else ""
    printed = typed(cloud, empty, f"{start}{rest}python {script}\n{of_gcloud}{stop}")
    assert '"displayName":"hello"' in printed and "\nJOB_STATE_SUCCEEDED\n" in printed
    assert not of_gcloud or "displayName: hello" in printed
    assert "local cloud stopped" in printed
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
