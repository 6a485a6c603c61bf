"""A submission runs once, however often it was sent; when that can't be told, it does not run. # N7 # P5

Against the storage of the local cloud, with the tokens its metadata server would give; faults are added in between.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.authoring.packages import slipway_launcher as launcher
from slipway.authoring.packages import source_package
from slipway.authoring.packages.slipway_command import Command
from slipway.authoring.packages.slipway_http import TRIES, StorageError
from slipway.authoring.packages.slipway_inputs import DISK
from slipway.authoring.packages.slipway_results import CHIEF, Results
from slipway.authoring.packages.slipway_storage import Storage
from slipway.model.labels import IMAGE_START
from tests.checkouts.shell import wait_for

from .conftest import PROJECT, Between, Bucket, put_launcher

pytestmark = pytest.mark.smoke

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

PROGRAM = "import sys\nprint('the job runs with', sys.argv[1:])\nsys.exit(3 if 'fail' in sys.argv else 0)\n"


class Replica:
    """What a replica sees: its job's id, the metadata server, the storage behind it."""

    def __init__(self, server: Between, folder: Path, bucket: Bucket) -> None:
        self.handler: Any = server.handler
        self.bucket = bucket
        own = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "CLOUD_ML"))}
        self.environ = {**own, **server.environ, "PYTHONPATH": str(folder)}
        put_launcher(folder)

    def claim(self, request: str) -> str:
        return f"gs://{self.bucket.name}/claims/{request}"

    def taken(self, request: str, job: str = "11") -> bool:
        """Claim a request for a job, and tell whether it has it."""
        return launcher.settle(self.claim(request), job, self.environ)[0] == job

    def output(self, name: str) -> str:
        """Return the folder of a job's output, which it is told from now on."""
        self.environ["AIP_MODEL_DIR"] = f"gs://{self.bucket.name}/jobs/{name}/model/"
        return f"jobs/{name}/"

    def start(self, request: str, job: str, *arguments: str, trial: str = "") -> subprocess.CompletedProcess[str]:
        words = ["--claim", self.claim(request), "--module", "work", "--", *arguments]
        given = {"CLOUD_ML_JOB_ID": job, "CLOUD_ML_TRIAL_ID": trial}
        environ = {**self.environ, **{name: value for name, value in given.items() if value}}
        command = [sys.executable, "-m", "slipway_launcher", *words]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    def ends(self, request: str, job: str, trial: str = "") -> int:
        """Return the exit code of one that has nothing to run, in this process."""
        environ = {**self.environ, "CLOUD_ML_JOB_ID": job, "CLOUD_ML_TRIAL_ID": trial}
        return launcher.main(["--claim", self.claim(request), "--module", "nothing"], environ)


@pytest.fixture
def replica(server: Between, bucket: Bucket, tmp_path: Path) -> Replica:
    (tmp_path / "work.py").write_text(PROGRAM)
    return Replica(server, tmp_path, bucket)


def ran(done: subprocess.CompletedProcess[str]) -> bool:
    return "the job runs with" in done.stdout


def test_the_first_one_claims_and_becomes_the_job(replica: Replica) -> None:
    done = replica.start("first", "11", "--trees=5", "--", "x")
    assert (done.returncode, done.stdout) == (0, "the job runs with ['--trees=5', '--', 'x']\n"), done.stderr


def test_a_copy_says_so_and_ends_well_before_any_code(replica: Replica, capsys: pytest.CaptureFixture[str]) -> None:
    assert replica.taken("copied") and replica.ends("copied", "12") == 0
    assert "copy of job 11," in capsys.readouterr().out


@pytest.mark.parametrize("complete", ["11", "12"])
def test_a_region_with_some_of_a_jobs_machines_wins_no_race(replica: Replica, complete: str) -> None:  # N23
    """The service starts a replica's code as soon as that one's machine is there."""
    request, chief, helper = f"race-{complete}", {"type": "chief"}, {"type": "workerpool1"}
    started: list[subprocess.CompletedProcess[str]] = []

    def start(job: str, task: dict[str, str]) -> threading.Thread:
        spec = {"cluster": {"chief": ["a"], "workerpool1": ["b"]}, "task": {**task, "index": 0}}
        environ = {**replica.environ, "CLUSTER_SPEC": json.dumps(spec), "SLIPWAY_RACE": '"here there"'}
        command = [sys.executable, "-m", "slipway_launcher", "--claim", replica.claim(request), "--module", "work"]
        given = {**environ, "CLOUD_ML_JOB_ID": job}
        options: Any = {"env": given, "capture_output": True, "text": True, "check": False}
        thread = threading.Thread(target=lambda: started.append(subprocess.run(command, **options)))
        thread.start()
        return thread

    def there(name: str) -> bool:
        return f"{request}/there/{name}" in replica.bucket.contents("claims/")

    threads = [start("11", chief)]
    wait_for(lambda: there(f"11/{CHIEF}"), "one of two is there", 60)
    assert request not in replica.bucket.contents("claims/")
    threads += [start(complete, helper)] + ([start(complete, chief)] if complete != "11" else [])
    for thread in threads:
        thread.join()
    assert replica.bucket.contents("claims/")[request] == complete.encode()
    assert sum(map(ran, started)) == 2 and all(done.returncode == 0 for done in started), started
    assert [done.stdout for done in started if not ran(done)] == [
        f"slipway: a copy of job {complete}, which runs this submission: nothing to do here\n"
    ] * (complete != "11")


def give_up(replica: Replica, request: str) -> int:
    """What `slipway submit` does to move a submission on; 412 when a launcher was first."""
    return replica.bucket.post(f"claims/{request}", launcher.MOVED.encode(), "&ifGenerationMatch=0")


@pytest.mark.parametrize("trial", ["", "1"])
def test_a_submission_that_was_given_up_never_runs(
    replica: Replica, trial: str, capsys: pytest.CaptureFixture[str]
) -> None:  # N3
    assert give_up(replica, f"moved-{trial}") == 200
    assert replica.ends(f"moved-{trial}", "11", trial) == 0 and "given up" in capsys.readouterr().out


def test_each_trial_runs_once_whichever_tuning_job_it_is_of_and_can_not_be_given_up(
    replica: Replica, capsys: pytest.CaptureFixture[str]
) -> None:  # N3, N7, W5
    assert replica.taken("running") and give_up(replica, "running") == 412
    assert ran(replica.start("study", "21", trial="1")) and ran(replica.start("study", "22", trial="2"))
    assert ran(replica.start("study", "21", trial="1"))
    assert replica.ends("study", "31", "1") == 0 and "copy of job 21," in capsys.readouterr().out
    assert give_up(replica, "study") == 412


def test_the_jobs_exit_code_is_its_own(replica: Replica) -> None:
    assert replica.start("failing", "11", "fail").returncode == 3


def test_an_answer_that_is_lost_does_not_make_a_copy_of_itself(replica: Replica) -> None:
    replica.handler.faults = ["lost"]
    assert ran(replica.start("lost", "11"))


@pytest.mark.parametrize(
    ("faults", "before"),
    [([503], False), ([429, 500], False), (["silent"], False), (["half"], True), (["lost"], True), ([412, 404], False)],
)
def test_passing_trouble_is_waited_out(replica: Replica, faults: list[Any], before: bool) -> None:
    """A launcher whose own claim was not answered finds it."""
    waits: list[float] = []
    replica.handler.faults = [*faults]
    settled = launcher.settle(replica.claim(f"trouble-{faults[0]}"), "11", replica.environ, waits.append)
    assert settled == ("11", before) and waits and not replica.handler.faults


@pytest.mark.parametrize("status", [401, 403, 400])
def test_what_can_not_be_told_does_not_run(replica: Replica, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    replica.handler.faults = [status]
    assert replica.ends(f"refused-{status}", "11") == launcher.CANNOT_TELL
    said = capsys.readouterr().err
    assert "whether this submission runs already" in said and "roles/storage.objectUser" in said
    assert f"{replica.claim(f'refused-{status}')}: HTTP {status}: " in said


def test_trouble_that_does_not_pass_ends_it(replica: Replica) -> None:
    waits: list[float] = []
    replica.handler.faults = [503] * TRIES
    with pytest.raises(StorageError, match="no good answer in 8 tries; the last: HTTP 503"):
        launcher.settle(replica.claim("never"), "11", replica.environ, waits.append)
    assert len(waits) == TRIES - 1 and sum(waits) < 120
    without_metadata_server = {**replica.environ, "GCE_METADATA_HOST": "127.0.0.1:1"}
    with pytest.raises(StorageError, match="no good answer"):
        launcher.settle(replica.claim("nobody"), "11", without_metadata_server, lambda _: None)


@pytest.fixture
def token(replica: Replica, cloud: LocalCloud, request: pytest.FixtureRequest) -> str:
    """The reference of a secret that holds `hf_abc=`, which the replica is given."""
    name = request.node.name.replace("[", "-").replace("]", "")
    cloud.rest("POST", f"/v1/projects/{PROJECT}/secrets?secretId={name}", {"replication": {"automatic": {}}})
    value = base64.b64encode(b"hf_abc=").decode()
    cloud.rest("POST", f"/v1/projects/{PROJECT}/secrets/{name}:addVersion", {"payload": {"data": value}})
    return refers(replica, name)


def refers(replica: Replica, name: str) -> str:
    reference = f"projects/{PROJECT}/secrets/{name}/versions/latest"
    endpoint = f"{replica.environ['STORAGE_EMULATOR_HOST']}/v1/"
    replica.environ |= {"HF_TOKEN__SECRET": reference, "GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT": endpoint}
    return reference


TELLS = "import os\nprint('the job has', os.environ.get('HF_TOKEN'), 'of', os.environ['HF_TOKEN__SECRET'])\n"


def test_a_secret_reaches_the_jobs_code_as_its_value(replica: Replica, token: str, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(TELLS)
    done = replica.start("secret", "11")
    assert (done.returncode, done.stdout) == (0, f"the job has hf_abc= of {token}\n"), done.stderr


@pytest.mark.usefixtures("token")
@pytest.mark.parametrize("fault", [503, "silent"])
def test_passing_trouble_of_a_secret_is_waited_out(replica: Replica, fault: int | str) -> None:
    waits: list[float] = []
    replica.handler.faults = [fault]
    assert launcher.secrets(replica.environ, waits.append) == {"HF_TOKEN": "hf_abc="} and len(waits) == 1


def test_a_secret_that_can_not_be_read_stops_the_job_before_any_code(
    replica: Replica, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = refers(replica, "nowhere")
    assert replica.ends("no-secret", "11") == launcher.CANNOT_TELL
    said = capsys.readouterr().err
    assert f"{missing}: HTTP 404: " in said and said.endswith(
        f"  fix: see that it has a version, which is text; if there is no such secret, "
        f"gcloud secrets create {missing.partition('/versions/')[0]} --data-file=FILE, then submit again\n"
    )


WRITES = """
import os, pathlib, sys
folder = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
print("finds", sorted(one.name for one in folder.iterdir()))
if len(sys.argv) > 1:
    (folder / "checkpoint").write_text("1")
"""


def test_the_code_of_any_package_has_a_folder_whose_files_are_kept(replica: Replica, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WRITES)
    folder = replica.output("kept")
    assert replica.start("unused", "11").stdout == "finds []\n", "where it is not used nothing is said of it"
    done = replica.start("kept", "11", "write")
    assert done.stdout.startswith("finds []\n") and "files kept: 1" in done.stdout
    assert replica.bucket.contents(folder) == {"checkpoint": b"1"}
    # A restart, and another replica of the job.
    assert "\nfinds ['checkpoint']\n" in replica.start("kept", "11").stdout
    replica.environ["CLUSTER_SPEC"] = json.dumps({"task": {"type": "workerpool1", "index": 2}})
    done = replica.start("kept", "11", "write")
    assert done.returncode == 0 and "\nfinds ['checkpoint']\n" in done.stdout
    assert replica.bucket.contents(f"{folder}replicas/") == {"workerpool1-2/checkpoint": b"1"}


@pytest.mark.parametrize(
    ("faults", "said"),
    [([None, 403], "an earlier start of this job has kept can't be fetched"), ([None, None, None, 403], "not all")],
)
def test_what_can_be_neither_fetched_nor_kept_fails_the_job(
    replica: Replica, tmp_path: Path, faults: list[Any], said: str
) -> None:
    (tmp_path / "work.py").write_text(WRITES)
    replica.output("refused")
    replica.handler.faults = faults
    done = replica.start(f"refused-{len(faults)}", "11", "write")
    assert done.returncode == launcher.CANNOT_TELL and said in done.stderr
    assert "HTTP 403" in done.stderr and "roles/storage.objectUser" in done.stderr


def test_without_an_output_what_it_writes_is_not_kept_in_silence(replica: Replica, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WRITES)
    done = replica.start("nowhere", "11", "write")
    assert done.returncode == launcher.CANNOT_TELL and "the job has no output directory" in done.stderr


class Stub(Command):
    """A command that goes on; who looks for its notice sets `looked`, as its end does."""

    def __init__(self, looked: threading.Event | None = None) -> None:
        self.looked = looked

    @property
    def noticed(self) -> bool:  # type: ignore[override]
        if self.looked:
            self.looked.set()
        return self.looked is not None


def test_the_end_of_the_command_ends_what_is_tried_again_while_it_runs(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    over = threading.Event()
    results = Results(tmp_path, f"gs://{replica.bucket.name}/jobs/over", CHIEF, Storage(replica.environ))
    (results.folder / "model").touch()
    replica.handler.faults = [503]
    monkeypatch.setattr(launcher, "LOOK_S", 0)
    launcher.watch(Stub(over), results, over)
    assert replica.handler.faults == [503] and not results.kept, "nothing was asked"
    results.keep()
    assert list(results.kept) == ["model"]


def test_what_it_writes_first_is_kept_soon(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # X3
    """A machine that goes after ten seconds, most of which it spent installing, has a checkpoint."""
    monkeypatch.setattr(launcher, "EVERY_S", 3600)
    over = threading.Event()
    results = Results(tmp_path, f"gs://{replica.bucket.name}/jobs/soon", CHIEF, Storage(replica.environ))
    (results.folder / "checkpoint").write_text("1")
    watcher = threading.Thread(target=launcher.watch, args=(Stub(), results, over))
    watcher.start()
    wait_for(lambda: results.kept, "its first file is kept")
    over.set()
    watcher.join()
    assert list(results.kept) == ["checkpoint"]


def test_outside_of_vertex_ai_it_says_what_to_run(replica: Replica, capsys: pytest.CaptureFixture[str]) -> None:
    assert replica.ends("laptop", "") == launcher.CANNOT_TELL
    said = capsys.readouterr().err
    assert "CLOUD_ML_JOB_ID is not set" in said and "python -m nothing" in said


@pytest.mark.parametrize("claim", ["claims/x", "gs://packages-work", "gs:///x"])
def test_a_claim_that_is_no_object_is_refused(replica: Replica, claim: str, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {**replica.environ, "CLOUD_ML_JOB_ID": "11"}
    assert launcher.main(["--claim", claim, "--module", "nothing"], environ) == launcher.CANNOT_TELL
    assert f"why: {claim}: " in capsys.readouterr().err


def image(replica: Replica, request: str, *words: str, own: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Start a command as an image's launcher does: from one file, by `sh`."""
    file = Path(replica.environ["PYTHONPATH"], "launcher.pyz")
    file.write_bytes(source_package.launcher("own").content)
    command = [*IMAGE_START, str(file), "--claim", replica.claim(request), *own]
    command += [*(f"--exec={word}" for word in words), "--", "--trees=5"]
    environ = {**replica.environ, "CLOUD_ML_JOB_ID": "11", "PYTHONPATH": "/nowhere"}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_an_images_command_is_started_once_with_its_own_words(replica: Replica) -> None:  # N27
    shows = "import os, sys; print(sys.argv[1:], os.environ['PYTHONPATH'])"
    done = image(replica, "image", "python3", "-c", shows)
    assert (done.returncode, done.stdout) == (0, "['--trees=5'] /nowhere\n"), done.stderr
    assert replica.taken("copied-image", "10")
    done = image(replica, "copied-image", "python3", "-c", shows)
    assert done.returncode == 0 and "a copy of job 10," in done.stdout and "--trees" not in done.stdout


def test_python_of_an_image_finds_its_own_modules_then_those_of_the_folder(replica: Replica) -> None:
    package = source_package.folder_of("own", {"json.py": b"raise SystemExit(1)\n", "helper.py": b"print('found')\n"})
    own = f"--code={replica.bucket.put(f'code/{package.name}', package.content)}"
    done = image(replica, "modules", "sh", "-c", "cd / && python3 -c 'import json, helper'", own=(own,))
    assert (done.returncode, done.stdout) == (0, "found\n"), done.stderr


def test_a_command_runs_in_the_folder_that_came_with_it_and_finds_it_first(replica: Replica) -> None:  # N8, N27
    files = {"train.sh": b"#!/bin/sh\necho $1 of $(cat data/x) by $JULIA_LOAD_PATH\n", "data/x": b"words"}
    package = source_package.folder_of("own", files)
    own = (f"--code={replica.bucket.put(f'code/{package.name}', package.content)}", "--path=JULIA_LOAD_PATH")
    replica.environ["JULIA_LOAD_PATH"] = "/opt/julia"
    done = image(replica, "folder", "./train.sh", own=own)
    said, _, path = done.stdout.strip().rpartition(" by ")
    assert (done.returncode, said) == (0, "--trees=5 of words"), done.stderr
    assert path.endswith("/code:/opt/julia") and not Path(path.partition(":")[0]).exists(), "it goes with the job"
    missing = image(replica, "nothing", "./train.sh", own=("--code=gs://packages-work/code/nothing.tar.gz",))
    assert missing.returncode == launcher.CANNOT_TELL and "nothing.tar.gz: it is not there" in missing.stderr


@pytest.mark.parametrize("own", [True, False])
def test_a_disk_without_room_for_the_folder_is_said_with_what_to_do(
    replica: Replica, own: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # N27
    """The package's folder was a traceback, and that of a submission a role that nobody lacked."""

    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("slipway.authoring.packages.slipway_command.unpack", full)
    code = replica.bucket.put("code/full.tar.gz", b"")
    words = [f"--code={code}", "--exec=true"] if own else ["--module=slipway_script", "--", "--command=true"]
    environ = {**replica.environ, "CLOUD_ML_JOB_ID": "11"}
    assert launcher.main(["--claim", replica.claim(f"full-{own}"), *words], environ) == launcher.CANNOT_TELL
    said = capsys.readouterr().err
    assert "no room" in said and f"fix: {DISK}" in said


def test_a_command_that_no_image_has_is_said(replica: Replica) -> None:  # N27
    done = image(replica, "no-program", "no-such-program")
    assert done.returncode == launcher.CANNOT_TELL and "can't run 'no-such-program'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("holder", "said"), [("cancelled", "cancelled before"), ("pipelineJobs/a-b", "pipelineJobs/a")]
)
def test_what_was_cancelled_or_is_another_kind_of_job_never_runs_and_is_no_success(
    replica: Replica, holder: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:  # N3, N7
    assert replica.bucket.post(f"claims/{holder[:9]}", holder.encode(), "&ifGenerationMatch=0") == 200
    assert replica.ends(holder[:9], "11") == launcher.CANNOT_TELL and said in capsys.readouterr().out


def test_an_image_that_was_given_up_ends_badly_so_that_no_earlier_client_takes_it_for_a_run(
    replica: Replica,
) -> None:  # N3, N27
    assert give_up(replica, "moved-image") == 200
    done = image(replica, "moved-image", "python3", "-c", "print('it runs')")
    assert done.returncode == launcher.CANNOT_TELL and "given up" in done.stdout and "it runs" not in done.stdout


@pytest.mark.parametrize("older", [False, True])
def test_an_image_without_a_python_that_suffices_says_what_it_needs(tmp_path: Path, older: bool) -> None:  # N27
    if older:
        python = tmp_path / "python3"
        python.write_text(f"#!{sys.executable}\nimport sys\nsys.version_info = (3, 7, 17)\nexec(sys.argv[2])\n")
        python.chmod(0o755)
    command = [str(shutil.which("sh")), *IMAGE_START[1:], "launcher.pyz"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == launcher.CANNOT_TELL
    assert "no python3 of 3.8 or newer" in done.stderr and "launcher=False" in done.stderr


@pytest.mark.parametrize("words", [(), ("--module", "work", "--exec=work")])
def test_it_starts_either_a_module_or_a_command(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        launcher.arguments(["--claim", "gs://b/c", *words])
