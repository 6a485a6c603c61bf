"""The local cloud as a process: started once, found again, killed, taken over, stopped. (N4)"""

import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
from google.api_core import exceptions

from tests.conftest import ROOT
from tests.storage.conftest import client
from vertex_local.server import client as controls
from vertex_local.server import daemon
from vertex_local.testing.local_cloud import LocalCloud


def test_up_again_is_no_new_start(cloud: LocalCloud) -> None:
    before = cloud.record
    again = cloud.command("up")
    assert again.stdout.startswith("local cloud running: ") and cloud.record == before


def test_the_record_is_for_its_owner_only(cloud: LocalCloud) -> None:
    assert oct(cloud.state.stat().st_mode & 0o777) == "0o700"
    for name in ("cloud.json", "cloud.sqlite", "logs.sqlite", "cloud.log"):
        assert oct((cloud.state / name).stat().st_mode & 0o777) == "0o600", name
    assert (cloud.state / ".gitignore").read_text() == "*\n", "it may lie in a repository"
    document = json.loads((cloud.state / "cloud.json").read_text())
    assert set(document) == {"url", "port", "pid", "pidStarted", "tokens", "projects"}
    assert set(document["tokens"]) >= {"owner", "deployer", "previewer", "submitter"}


def test_killed_and_started_again_nothing_is_lost(own_cloud: LocalCloud) -> None:
    first = own_cloud.command("up")
    assert first.returncode == 0 and first.stdout.startswith("local cloud started: http://127.0.0.1:")
    assert len(first.stdout.splitlines()) == 1
    before = own_cloud.record
    bucket = client(own_cloud).create_bucket("survivor")
    bucket.blob("x").upload_from_string("still here")
    own_cloud.rest("POST", "/v1/projects/local-project/serviceAccounts", {"accountId": "trainer-one"})
    own_cloud.kill()
    assert own_cloud.command("status").returncode == 1
    path = own_cloud.state / "cloud.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "pid": os.getpid()}))
    assert own_cloud.command("status").returncode == 1, "its number is another program's now"
    own_cloud.up()
    after = own_cloud.record
    assert (after.url, after.tokens) == (before.url, before.tokens) and after.pid not in (before.pid, os.getpid())
    assert client(own_cloud).bucket("survivor").blob("x").download_as_text() == "still here"
    accounts = own_cloud.rest("GET", "/v1/projects/local-project/serviceAccounts")["accounts"]
    emails = [account["email"] for account in accounts]
    assert "trainer-one@local-project.iam.gserviceaccount.com" in emails


def test_status_and_env_need_a_running_cloud(cloud: LocalCloud, own_cloud: LocalCloud) -> None:
    for command in ("status", "env"):
        stopped = own_cloud.command(command)
        assert stopped.returncode == 1 and stopped.stdout == "" and "fix: vertex-local up" in stopped.stderr
    said = json.loads(cloud.command("status", "--output", "json").stdout)
    assert (said["url"], said["pid"]) == (cloud.url, cloud.record.pid) and said["since"]


def test_the_log_never_holds_a_token(cloud: LocalCloud) -> None:
    token = cloud.token()
    for path in (f"{token}/storage/v1/b?project=local-project", f"{token}/nowhere", "mistyped-secret/nowhere"):
        requests.get(f"{cloud.url}/t/{path}", timeout=10)
    log = (cloud.state / "cloud.log").read_text()
    assert "/storage/v1/b" in log and token not in log and "mistyped-secret" not in log
    for name in ("cloud.sqlite", "cloud.sqlite-wal"):
        assert token.encode() not in (cloud.state / name).read_bytes()


def test_two_ups_at_once_start_one_cloud(own_cloud: LocalCloud) -> None:
    started = [own_cloud.started("up") for _ in range(2)]
    said = [process.communicate() for process in started]
    assert sorted(out.split(":")[0] for out, _ in said) == ["local cloud running", "local cloud started"], said


def test_a_kill_in_the_middle_of_writes_leaves_whole_objects_only(own_cloud: LocalCloud) -> None:
    own_cloud.up()
    bucket = client(own_cloud).create_bucket("torn")
    answered: list[int] = []

    def write(worker: int) -> None:
        with suppress(Exception):
            for number in range(worker, 10_000, 4):
                content = number.to_bytes(4, "big") * 50_000
                bucket.blob(f"{number}").upload_from_string(content, retry=None)
                answered.append(number)

    writers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for writer in writers:
        writer.start()
    while len(answered) < 20:
        time.sleep(0.01)
    own_cloud.kill()
    for writer in writers:
        writer.join()
    own_cloud.up()
    contents = {blob.name: blob.download_as_bytes() for blob in client(own_cloud).list_blobs("torn")}
    assert {str(number) for number in answered} <= set(contents)
    for name, content in contents.items():
        assert content == int(name).to_bytes(4, "big") * 50_000
    named = len(contents)
    deadline = time.monotonic() + 600
    while len(list((own_cloud.state / "objects").glob("??/*"))) > named and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(list((own_cloud.state / "objects").glob("??/*"))) == named


def test_no_two_clouds_serve_one_state(own_cloud: LocalCloud) -> None:
    own_cloud.up()
    path = own_cloud.state / "cloud.json"
    record = path.read_text()
    path.write_text(json.dumps({**json.loads(record), "pid": os.getpid()}))
    refused = own_cloud.command("up")
    assert refused.returncode == 1 and "another local cloud serves" in refused.stderr
    path.write_text(record)
    assert own_cloud.healthy()


def test_a_taken_port_is_an_error_in_words(own_cloud: LocalCloud) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = own_cloud.command("up", VERTEX_LOCAL_PORT=port)
    assert done.returncode == 1 and done.stdout == ""
    assert f"error: port {port} is taken" in done.stderr and "VERTEX_LOCAL_PORT=0" in done.stderr
    assert not (own_cloud.state / "cloud.json").exists()


@pytest.mark.parametrize("unsaid", ["", "0"])
def test_a_port_that_was_taken_meanwhile_is_kept_for_or_said(own_cloud: LocalCloud, unsaid: str) -> None:
    own_cloud.up()
    port = own_cloud.record.port
    own_cloud.command("down")
    with socket.create_server(("127.0.0.1", port)):
        kept = own_cloud.command("up", VERTEX_LOCAL_PORT=str(port))
        assert kept.returncode == 1 and "is taken" in kept.stderr
        free = own_cloud.command("up", VERTEX_LOCAL_PORT=unsaid)
    assert free.returncode == 0 and "shells that know the old one need" in free.stderr
    assert own_cloud.record.port != port


def test_a_second_cloud_takes_a_free_port_where_nobody_asked_for_one(
    own_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as demo:
        usual = demo.getsockname()[1]
        monkeypatch.setattr(daemon, "DEFAULT_PORT", usual)
        done = own_cloud.command("up", VERTEX_LOCAL_PORT="")
    assert done.returncode == 0 and f"port {usual} is taken by another program" in done.stderr
    assert "shells" not in done.stderr, "nobody knows another port of this cloud"
    assert own_cloud.healthy()


def test_down_stops_the_cloud_and_the_processes_of_jobs(own_cloud: LocalCloud) -> None:
    own_cloud.up()
    folder = own_cloud.state / "jobs" / "1" / "work"
    folder.mkdir(parents=True)
    orphan = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd=folder)
    elsewhere = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd=ROOT)
    try:
        done = own_cloud.command("down")
        assert done.stdout.endswith("1 job process ended\n")
        assert orphan.wait() != 0 and elsewhere.poll() is None and not own_cloud.healthy()
        assert own_cloud.command("down").stdout == "local cloud is not running\n"
        asked = own_cloud.command("env")
        assert asked.returncode == 1 and f"why: none has its state in {own_cloud.state}" in asked.stderr
    finally:
        elsewhere.kill()
        elsewhere.wait()


def test_settings_outlive_a_restart_and_unknown_ones_are_refused(own_cloud: LocalCloud) -> None:
    own_cloud.up("--set", "submissions_per_minute=7", "--set", "quota.custom_model_training_cpus.us-central1=96")
    own_cloud.up("--set", "policy.gcp.resourceLocations=in:us-locations")
    own_cloud.command("down")
    own_cloud.up()
    answer = own_cloud.rest("GET", "/vertex-local/settings")
    assert answer["submissions_per_minute"] == 7
    assert answer["quota"] == {"custom_model_training_cpus.us-central1": 96}
    assert answer["policy"] == {"gcp.resourceLocations": ["in:us-locations"]}
    wrong = own_cloud.command("up", "--set", "submission_per_minute=7")
    assert wrong.returncode == 2 and "did you mean 'submissions_per_minute'?" in wrong.stderr


def test_the_next_answer_bears_the_time_that_the_clock_was_moved_to(own_cloud: LocalCloud) -> None:
    own_cloud.up()

    def dated() -> datetime:
        return parsedate_to_datetime(own_cloud.call("GET", "/storage/v1/b?project=local-project").headers["Date"])

    before = dated()
    own_cloud.rest("POST", "/vertex-local/clock", {"advance": 3600})
    assert dated() - before >= timedelta(hours=1)


def test_a_folder_with_other_things_in_it_is_not_taken_for_a_state_folder(own_cloud: LocalCloud) -> None:
    """VERTEX_LOCAL_STATE=$HOME would close the home to others at `up`, and empty it at `make demo-down`."""
    own_cloud.state.mkdir(mode=0o755)
    (own_cloud.state / "thesis.tex").write_text("years of work")
    done = own_cloud.command("up")
    assert done.returncode == 1 and "is not a state folder" in done.stderr
    assert "thesis.tex" in done.stderr
    assert own_cloud.state.stat().st_mode & 0o777 == 0o755
    assert own_cloud.command("down").stdout.startswith("local cloud is not running")
    assert [path.name for path in own_cloud.state.iterdir()] == ["thesis.tex"]


# --- A cloud that hangs is said. # N4


def test_a_cloud_that_lives_and_does_not_answer_is_not_taken_for_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = SimpleNamespace(pid=4711, url="http://127.0.0.1:1")
    monkeypatch.setattr(daemon, "read_record", lambda folder: record)
    monkeypatch.setattr(daemon, "process_of", lambda item: item.pid)
    monkeypatch.setattr(controls, "answers", lambda item, seconds: False)
    with pytest.raises(controls.CloudError, match="process 4711 of the local cloud lives but does not answer"):
        daemon.start(tmp_path / "state", {})


# --- A disk that is full while the cloud writes, shown with a limit on its files. (N4)


LIMIT = 400_000


def test_a_full_disk_is_an_answer_and_nothing_is_half_written(own_cloud: LocalCloud) -> None:
    own_cloud.up(VERTEX_LOCAL_FILE_LIMIT=str(LIMIT))
    bucket = client(own_cloud).create_bucket("small-disk")
    bucket.blob("kept").upload_from_string("before")
    with pytest.raises(exceptions.GoogleAPICallError, match="disk is full") as failure:
        bucket.blob("big").upload_from_string(b"x" * (LIMIT + 1))
    assert failure.value.code == 507
    assert "disk full" in json.loads(own_cloud.command("status", "--output", "json").stdout)["trouble"]
    assert bucket.get_blob("big") is None and bucket.blob("kept").download_as_text() == "before"
    assert len(list((own_cloud.state / "objects").glob("??/*"))) == 1
    bucket.blob("small").upload_from_string("after")
    assert "trouble" not in json.loads(own_cloud.command("status", "--output", "json").stdout)


def test_a_database_that_cannot_grow_rolls_back_and_lives_on(own_cloud: LocalCloud) -> None:
    own_cloud.up(VERTEX_LOCAL_FILE_LIMIT=str(LIMIT))
    made, failed = [], None
    for number in range(400):
        try:
            labels = {f"label-{index}": "x" * 60 for index in range(60)}
            own_cloud.rest(
                "POST", "/storage/v1/b?project=local-project", {"name": f"bucket-{number}", "labels": labels}
            )
            made.append(f"bucket-{number}")
        except requests.HTTPError as error:
            failed = error.response
            break
    assert failed is not None and failed.status_code == 507
    assert failed.json()["error"]["status"] == "RESOURCE_EXHAUSTED" and "nothing was written" in failed.text
    assert sorted(bucket.name for bucket in client(own_cloud).list_buckets()) == sorted(made)
    own_cloud.command("down")
    own_cloud.up()
    assert sorted(bucket.name for bucket in client(own_cloud).list_buckets()) == sorted(made)
    client(own_cloud).create_bucket("room-again")


# --- `vertex-local env`, as a shell uses it, and what the command says of mistakes. (N4)


def exports(text: str) -> dict[str, str]:
    variables = {}
    for line in text.splitlines():
        word, assignment = shlex.split(line)
        assert word == "export"
        name, _, value = assignment.partition("=")
        variables[name] = value
    return variables


def test_env_prints_what_a_shell_needs(cloud: LocalCloud) -> None:
    done = cloud.command("env", "--as", "submitter")
    assert done.returncode == 0, done.stderr
    contents = exports(done.stdout)
    assert contents["GOOGLE_OAUTH_ACCESS_TOKEN"] == cloud.token("submitter")
    key = json.loads(Path(contents["GOOGLE_APPLICATION_CREDENTIALS"]).read_text())
    assert (key["client_email"], key["token_uri"]) == ("ada@company.example", f"{cloud.url}/token")
    assert contents["CLOUD_STORAGE_EMULATOR_ENDPOINT"] == contents["STORAGE_EMULATOR_HOST"]
    assert contents["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] == "false"


def test_clearing_the_images_of_a_cluster_says_what_it_did(cloud: LocalCloud) -> None:
    done = cloud.command("images", "clear", "no-such-cluster")
    assert done.returncode == 0, done.stderr
    assert "no-such-cluster" in done.stdout


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"url": 1, "port": "x"}', "\0"])
def test_a_broken_record_is_named_by_every_command(own_cloud: LocalCloud, content: str) -> None:
    own_cloud.state.mkdir()
    (own_cloud.state / "cloud.json").write_text(content)
    for command in ("up", "status", "env", "down"):
        done = own_cloud.command(command)
        assert done.returncode == 1 and "cloud.json is not a record" in done.stderr, command
        assert "Traceback" not in done.stderr and "then vertex-local up" in done.stderr
    (own_cloud.state / "cloud.json").unlink()


@pytest.mark.parametrize("port", ["65536", "99999999999999999999", "-1", "eight", "8 0", "\u0663"])
def test_a_port_that_is_none_is_refused(own_cloud: LocalCloud, port: str) -> None:
    done = own_cloud.command("up", VERTEX_LOCAL_PORT=port)
    assert done.returncode == 1 and f"VERTEX_LOCAL_PORT is '{port}'" in done.stderr


def test_a_state_folder_that_is_none_is_said(own_cloud: LocalCloud) -> None:
    own_cloud.state.write_text("in the way")
    for command in ("up", "status", "env"):
        done = own_cloud.command(command)
        assert done.returncode == 1 and "can't be used" in done.stderr and "Traceback" not in done.stderr, command
        assert "VERTEX_LOCAL_STATE" in done.stderr
