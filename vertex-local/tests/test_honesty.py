"""The pages of the local cloud say per method what is faithful and what is simplified: neither more nor less."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.methods import examples
from vertex_local.router import Router
from vertex_local.server.main import load_services
from vertex_local.settings import Settings
from vertex_local.testing.local_cloud import FAST, LocalCloud
from vertex_local.world import open_world

GUIDE, METHODS = ((ROOT / "docs" / f"{name}.md").read_text() for name in ("guide", "fidelity"))
CLOUD = ROOT / "vertex_local"
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
    "orgpolicy.v2",
    "compute.v1",
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
    answer = served(router, api)
    assert answer and answer <= set(ROWS), answer - set(ROWS)


def test_every_method_of_vertex_ai_that_is_served_is_named_with_its_collection(router: Router) -> None:
    """Its rows are in words, several methods to one, so that whether they tell the truth is for a reader."""
    rows = [line for line in METHODS.splitlines() if line.startswith("| ")]
    methods = [name.split(".")[-2:] for name in served(router, "aiplatform.v1")]
    assert methods
    assert [
        f"{collection}.{method}"
        for collection, method in methods
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
    from vertex_local.cli.main import cli

    named = set(re.findall(r"^\| `(up|down|env|status|images|cache|scenario|kill|secret)\b", GUIDE, re.M))
    assert named == set(cli.commands) and (CLOUD / "access" / "roles.toml").exists()


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


# --- The README: its blocks are typed. CONTRIBUTING.md: its tables are true.


README, BUILT = ((ROOT / name).read_text("utf-8") for name in ("README.md", "CONTRIBUTING.md"))
SHELL = re.findall(r"^```sh\n(.*?)^```$", README, re.M | re.S)
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


def typed(environ: Mapping[str, str], folder: Path, script: str) -> str:
    """Return what a shell prints in a folder when it runs the script, which must end well."""
    done = subprocess.run(
        ["bash", "-c", "set -eu\n" + script], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The programs of a new environment with the wheel and what it asks for, at the versions of this one."""
    uv = Path(sys.executable).with_name("uv")
    source, made, pinned = tmp_path / "source", tmp_path / "environment", tmp_path / "pinned.txt"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info", ".*"))

    def run(*words: str | Path) -> str:
        done = subprocess.run([uv, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    frozen = run("pip", "freeze", "--python", sys.executable)
    pinned.write_text("".join(line for line in frozen.splitlines(keepends=True) if re.match(r"[\w.-]+==", line)))
    run("build", "--wheel", "--out-dir", source / "dist", source)
    (wheel,) = (source / "dist").glob("*.whl")
    run("venv", "--python", sys.executable, made)
    run("pip", "install", "--python", made, wheel, "--constraint", pinned)
    (packages,) = made.glob("lib/python*/site-packages")
    assert not [*packages.glob("slipway*")]
    share_bytecode(packages)
    return made / "bin"


def share_bytecode(packages: Path) -> None:
    """Link what this environment has compiled, of files that both have from the installer's cache: compiling them once
    more would take half of the test."""
    for source in packages.rglob("*.py"):
        own = Path(sysconfig.get_path("purelib")) / source.relative_to(packages)
        compiled = Path(importlib.util.cache_from_source(str(own)))
        if compiled.exists() and own.samefile(source):
            target = Path(importlib.util.cache_from_source(str(source)))
            target.parent.mkdir(exist_ok=True)
            target.hardlink_to(compiled)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in which a cloud is found and stopped that the blocks have started."""
    folder = tmp_path / "empty"
    folder.mkdir()
    yield folder
    LocalCloud(folder / "cloud-state").command("down")


@pytest.mark.journey
def test_the_blocks_run_from_start_to_stop_in_an_empty_folder_by_the_wheel_alone(empty: Path, programs: Path) -> None:
    start, rest, gcloud, stop = SHELL
    install, *lines = start.splitlines(keepends=True)
    assert install == "pip install ./vertex-local\n" and len(lines) == 4
    script = empty.parent / "script.py"
    script.write_text("".join(PYTHON))
    of_gcloud = gcloud if shutil.which("gcloud") else ""
    environ = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "VERTEX_LOCAL_SET": ",".join(FAST),
        "CLOUDSDK_CONFIG": str(empty.parent / "gcloud"),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    }
    printed = typed(environ, empty, f"{''.join(lines)}{rest}python {script}\n{of_gcloud}{stop}")
    assert '"displayName":"hello"' in printed and "\nJOB_STATE_SUCCEEDED\n" in printed
    assert not of_gcloud or "displayName: hello" in printed
    assert "local cloud stopped" in printed
    assert {path.name for path in empty.iterdir()} <= {"cloud-state", "hello.txt"}


def test_every_folder_has_a_row() -> None:
    rows = re.findall(r"^\| ((?:`[\w/]+` ?)+)\|", BUILT, re.M)
    named = {name for row in rows for name in re.findall(r"`([\w/]+)`", row)}
    folders = {str(path.parent.relative_to(CLOUD)) for path in CLOUD.glob("*/**/__init__.py")}
    assert named == folders - {"vertex"}


def test_every_file_that_is_named_is_there() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", BUILT)
    others = {"things.py", "kinds.py", "records.py", "life.py", "work.py", "test_honesty.py"}  # examples and roles
    known = {str(path.relative_to(at)) for at in (CLOUD, ROOT) for path in at.rglob("*.py")}
    tops = known | {f"tests/{name}" for name in known} | {"routes.py", "rules.py"}
    assert set(named) - others <= tops
