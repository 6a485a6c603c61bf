"""A submission runs once, however often it was sent; when that can't be told, it does not run. # N7 # P5

Against the storage of the local cloud, with the tokens its metadata server would give; faults are added in between.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from slipway.packages import slipway_launcher as launcher
from slipway.packages.slipway_results import CHIEF, Results
from slipway.packages.slipway_storage import TRIES, Storage, storage_base
from tests.checkouts.shell import wait_for

from .between import Between, between

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

SCRIPT = Path(launcher.__file__)
PROJECT = "slipway-local"
PROGRAM = "import sys\nprint('the job runs with', sys.argv[1:])\nsys.exit(3 if 'fail' in sys.argv else 0)\n"


class Replica:
    """What a replica sees: its job's id, the metadata server, the storage behind it."""

    def __init__(self, server: Between, folder: Path, bucket: str) -> None:
        self.handler: Any = server.handler
        self.bucket = bucket
        host = server.host
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "CLOUD_ML"))},
            "GCE_METADATA_HOST": host,
            "STORAGE_EMULATOR_HOST": f"http://{host}",
            "PYTHONPATH": f"{SCRIPT.parent}{os.pathsep}{folder}",
        }

    def claim(self, request: str) -> str:
        return f"gs://{self.bucket}/claims/{request}"

    def start(
        self, request: str, job: str, *arguments: str, python: str = sys.executable, trial: str = ""
    ) -> subprocess.CompletedProcess[str]:
        command = [
            python,
            "-m",
            "slipway_launcher",
            "--claim",
            self.claim(request),
            "--module",
            "work",
            "--",
            *arguments,
        ]
        environ = {**self.environ, "CLOUD_ML_JOB_ID": job} if job else self.environ
        if trial:
            environ = {**environ, "CLOUD_ML_TRIAL_ID": trial}
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def bucket(cloud: LocalCloud) -> str:
    cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": "launcher-work", "location": "US-CENTRAL1"})
    return "launcher-work"


@pytest.fixture
def replica(cloud: LocalCloud, bucket: str, tmp_path: Path) -> Iterator[Replica]:
    (tmp_path / "work.py").write_text(PROGRAM)
    with between(cloud.url, cloud.token()) as server:
        yield Replica(server, tmp_path, bucket)


def ran(done: subprocess.CompletedProcess[str]) -> bool:
    return "the job runs with" in done.stdout


def test_the_first_one_claims_and_becomes_the_job(replica: Replica) -> None:
    done = replica.start("first", "11", "--trees=5", "--", "x")
    assert (done.returncode, done.stdout) == (0, "the job runs with ['--trees=5', '--', 'x']\n"), done.stderr


def test_other_replicas_and_restarts_of_the_job_run_too(replica: Replica) -> None:
    assert all(ran(replica.start("again", "11")) for _ in range(3))


def test_a_copy_says_so_and_ends_well_before_any_code(replica: Replica) -> None:
    assert ran(replica.start("copied", "11"))
    done = replica.start("copied", "12")
    assert done.returncode == 0 and "copy of job 11," in done.stdout and not ran(done)


def give_up(cloud: LocalCloud, replica: Replica, request: str) -> int:
    """What `slipway submit` does to move a submission on; 412 when a launcher was first."""
    url = (
        f"{cloud.url}/upload/storage/v1/b/{replica.bucket}/o?uploadType=media&ifGenerationMatch=0&name=claims/{request}"
    )
    return cloud.session().post(url, data=launcher.MOVED.encode(), timeout=30).status_code


def test_a_submission_that_was_given_up_never_runs(replica: Replica, cloud: LocalCloud) -> None:  # N3
    assert give_up(cloud, replica, "moved") == 200
    for trial in ("", "1"):
        done = replica.start("moved", "11", trial=trial)
        assert done.returncode == 0 and "given up" in done.stdout and not ran(done)


def test_a_submission_that_runs_can_not_be_given_up(replica: Replica, cloud: LocalCloud) -> None:  # N3
    assert ran(replica.start("running", "11"))
    assert ran(replica.start("tuning", "21", trial="1"))
    assert give_up(cloud, replica, "running") == give_up(cloud, replica, "tuning") == 412


def test_each_trial_runs_once_whichever_tuning_job_it_is_of(replica: Replica) -> None:  # N7, W5
    assert ran(replica.start("study", "21", trial="1")) and ran(replica.start("study", "22", trial="2"))
    assert ran(replica.start("study", "21", trial="1"))
    done = replica.start("study", "31", trial="1")
    assert "copy of job 21," in done.stdout and not ran(done)


def test_the_jobs_exit_code_is_its_own(replica: Replica) -> None:
    assert replica.start("failing", "11", "fail").returncode == 3


def test_an_answer_that_is_lost_does_not_make_a_copy_of_itself(replica: Replica) -> None:
    replica.handler.faults = ["lost"]
    assert ran(replica.start("lost", "11"))


@pytest.mark.parametrize("faults", [[503], [429, 500], ["silent"], ["half"], [412, 404]])
def test_passing_trouble_is_waited_out(replica: Replica, faults: list[Any]) -> None:
    replica.handler.faults = faults
    done = replica.start(f"trouble-{faults[0]}", "11")
    assert ran(done), done.stderr


@pytest.mark.parametrize("status", [401, 403, 400])
def test_what_can_not_be_told_does_not_run(replica: Replica, status: int) -> None:
    replica.handler.faults = [status]
    done = replica.start(f"refused-{status}", "11")
    assert done.returncode == launcher.CANNOT_TELL
    assert not ran(done)
    assert "whether this submission runs already" in done.stderr
    assert f"gs://launcher-work/claims/refused-{status}: HTTP {status}: " in done.stderr
    assert "roles/storage.objectUser" in done.stderr


def test_trouble_that_does_not_pass_ends_it(replica: Replica) -> None:
    waits: list[float] = []
    replica.handler.faults = [503] * TRIES
    with pytest.raises(launcher.ClaimError, match="no good answer in 8 tries; the last: HTTP 503"):
        launcher.settle(replica.claim("never"), "11", replica.environ, waits.append)
    assert len(waits) == TRIES - 1
    assert sum(waits) < 120


def test_without_a_metadata_server_it_does_not_run(replica: Replica) -> None:
    environ = {**replica.environ, "GCE_METADATA_HOST": "127.0.0.1:1"}
    with pytest.raises(launcher.ClaimError, match="no good answer"):
        launcher.settle(replica.claim("nobody"), "11", environ, lambda _: None)


@pytest.fixture
def token(cloud: LocalCloud, request: pytest.FixtureRequest) -> str:
    """The reference of a secret that holds `hf_abc=`."""
    name = request.node.name.replace("[", "-").replace("]", "")
    cloud.rest("POST", f"/v1/projects/{PROJECT}/secrets?secretId={name}", {"replication": {"automatic": {}}})
    value = base64.b64encode(b"hf_abc=").decode()
    cloud.rest("POST", f"/v1/projects/{PROJECT}/secrets/{name}:addVersion", {"payload": {"data": value}})
    return f"projects/{PROJECT}/secrets/{name}/versions/latest"


TELLS = "import os\nprint('the job has', os.environ.get('HF_TOKEN'), 'of', os.environ['HF_TOKEN__SECRET'])\n"


@pytest.mark.parametrize("faults", [[], [503], ["silent"]])
def test_a_secret_reaches_the_jobs_code_as_its_value(
    replica: Replica, token: str, tmp_path: Path, faults: list[Any]
) -> None:
    (tmp_path / "work.py").write_text(TELLS)
    replica.environ |= {
        "HF_TOKEN__SECRET": token,
        "GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT": f"{replica.environ['STORAGE_EMULATOR_HOST']}/v1/",
    }
    replica.start(token.split("/")[3], "11")  # claims; what fails now is the reading of the secret
    replica.handler.faults = [*([] if not faults else [None, None]), *faults]
    done = replica.start(token.split("/")[3], "11")
    assert (done.returncode, done.stdout) == (0, f"the job has hf_abc= of {token}\n"), done.stderr


def test_without_the_role_the_job_does_not_start_and_the_role_is_named(
    replica: Replica, token: str, cloud: LocalCloud
) -> None:
    replica.handler.token = cloud.token("submitter")
    replica.environ |= {"HF_TOKEN__SECRET": token}
    replica.environ["GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT"] = f"{replica.environ['STORAGE_EMULATOR_HOST']}/v1/"
    with pytest.raises(launcher.SecretError, match=f"{token}: HTTP 403: .*secretmanager.versions.access"):
        launcher.secrets(replica.environ)


def test_a_secret_that_can_not_be_read_stops_the_job_before_any_code(replica: Replica) -> None:
    missing = f"projects/{PROJECT}/secrets/nowhere/versions/latest"
    replica.environ |= {"HF_TOKEN__SECRET": missing}
    replica.environ["GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT"] = f"{replica.environ['STORAGE_EMULATOR_HOST']}/v1/"
    done = replica.start("no-secret", "11")
    assert done.returncode == launcher.CANNOT_TELL
    assert not ran(done)
    assert f"{missing}: HTTP 404: " in done.stderr
    assert "roles/secretmanager.secretAccessor" in done.stderr


WRITES = """
import os, pathlib, sys
folder = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
print("finds", sorted(one.name for one in folder.iterdir()))
if len(sys.argv) > 1:
    (folder / "checkpoint").write_text("1")
"""


def kept(cloud: LocalCloud, replica: Replica, prefix: str) -> list[str]:
    found = cloud.rest("GET", f"/storage/v1/b/{replica.bucket}/o?prefix={prefix}")
    return [one["name"] for one in found.get("items", [])]


def test_the_code_of_any_package_has_a_folder_whose_files_are_kept(
    replica: Replica, cloud: LocalCloud, tmp_path: Path
) -> None:
    (tmp_path / "work.py").write_text(WRITES)
    replica.environ["AIP_MODEL_DIR"] = f"gs://{replica.bucket}/jobs/kept/model/"
    assert replica.start("unused", "11").stdout == "finds []\n", "where it is not used nothing is said of it"
    done = replica.start("kept", "11", "write")
    assert done.stdout.startswith("finds []\n") and "files kept: 1" in done.stdout
    assert kept(cloud, replica, "jobs/kept/") == ["jobs/kept/checkpoint"]
    cluster = {"task": {"type": "workerpool1", "index": 2}}
    for task in ({"task": {"type": "workerpool0", "index": 0}}, cluster):
        replica.environ["CLUSTER_SPEC"] = json.dumps(task)
        assert "\nfinds ['checkpoint']\n" in replica.start("kept", "11").stdout
    assert replica.start("kept", "11", "write").returncode == 0
    assert kept(cloud, replica, "jobs/kept/replicas/") == ["jobs/kept/replicas/workerpool1-2/checkpoint"]


@pytest.mark.parametrize(
    ("faults", "said"),
    [([None, 403], "an earlier start of this job has kept can't be fetched"), ([None, None, 403], "not all")],
)
def test_what_can_be_neither_fetched_nor_kept_fails_the_job(
    replica: Replica, tmp_path: Path, faults: list[Any], said: str
) -> None:
    (tmp_path / "work.py").write_text(WRITES)
    replica.environ["AIP_MODEL_DIR"] = f"gs://{replica.bucket}/jobs/refused/model/"
    replica.handler.faults = faults
    done = replica.start(f"refused-{len(faults)}", "11", "write")
    assert done.returncode == launcher.CANNOT_TELL and said in done.stderr
    assert "HTTP 403" in done.stderr and "roles/storage.objectUser" in done.stderr


def test_without_an_output_what_it_writes_is_not_kept_in_silence(replica: Replica, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WRITES)
    done = replica.start("nowhere", "11", "write")
    assert done.returncode == launcher.CANNOT_TELL and "the job has no output directory" in done.stderr


def test_the_end_of_the_command_ends_what_is_tried_again_while_it_runs(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    over = threading.Event()

    class Noticed(launcher.Command):
        """A command that ends while what it wrote is being kept."""

        def __init__(self) -> None:
            pass

        @property
        def noticed(self) -> bool:  # type: ignore[override]
            over.set()
            return True

    results = Results(tmp_path, f"gs://{replica.bucket}/jobs/over", CHIEF, Storage(replica.environ))
    (results.folder / "model").touch()
    replica.handler.faults = [503]
    monkeypatch.setattr(launcher, "LOOK_S", 0)
    launcher.watch(Noticed(), results, over)
    assert replica.handler.faults == [503] and not results.kept, "nothing was asked"
    results.keep()
    assert list(results.kept) == ["model"]


def test_what_it_writes_first_is_kept_soon(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # X3
    """A machine that goes after ten seconds, most of which it spent installing, has a checkpoint."""

    class Quiet(launcher.Command):
        """A command that goes on, and gets no notice."""

        def __init__(self) -> None:
            self.noticed = False

    monkeypatch.setattr(launcher, "EVERY_S", 3600)
    results, over = (
        Results(tmp_path, f"gs://{replica.bucket}/jobs/soon", CHIEF, Storage(replica.environ)),
        threading.Event(),
    )
    (results.folder / "checkpoint").write_text("1")
    watcher = threading.Thread(target=launcher.watch, args=(Quiet(), results, over))
    watcher.start()
    wait_for(lambda: results.kept, "its first file is kept")
    over.set()
    watcher.join()
    assert list(results.kept) == ["checkpoint"]


def test_outside_of_vertex_ai_it_says_what_to_run(replica: Replica) -> None:
    done = replica.start("laptop", "")
    assert done.returncode == launcher.CANNOT_TELL
    assert "CLOUD_ML_JOB_ID is not set" in done.stderr
    assert "python -m work" in done.stderr


@pytest.mark.parametrize("claim", ["claims/x", "gs://bucket", "gs:///x", "gs://bucket/"])
def test_a_claim_that_is_no_object_is_refused(claim: str) -> None:
    with pytest.raises(SystemExit) as refusal:
        launcher.arguments(["--claim", claim, "--module", "work"])
    assert refusal.value.code == 2


def test_storage_is_googles_unless_told_otherwise() -> None:
    assert storage_base({}) == "https://storage.googleapis.com"
    assert storage_base({"STORAGE_EMULATOR_HOST": "localhost:9000/"}) == "http://localhost:9000"
    assert urlsplit(storage_base({"STORAGE_EMULATOR_HOST": "http://h:1/t/secret"})).path == "/t/secret"


def test_its_syntax_is_that_of_python_3_8() -> None:
    ast.parse(SCRIPT.read_text(), feature_version=(3, 8))


def test_it_runs_on_the_oldest_python_of_the_prebuilt_images(replica: Replica) -> None:
    uv = [sys.executable, "-m", "uv", "python", "find", "--no-python-downloads", "--no-project", ">=3.8,<3.11"]
    found = subprocess.run(uv, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("no Python older than 3.11 on this machine")
    python = found.stdout.strip()
    done = replica.start("old-python", "11", python=python)
    assert ran(done), done.stderr


def test_it_imports_the_standard_library_alone() -> None:
    program = "import sys; before = set(sys.modules); import slipway_launcher; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(SCRIPT.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {name.split(".")[0] for name in done.stdout.split()}
    assert imported - {"slipway_launcher", "slipway_results", "slipway_storage"} <= set(sys.stdlib_module_names)
