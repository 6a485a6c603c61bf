"""A replica's own view of this machine's files: what replicas of different jobs see, and nobody else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.cloud.nodes import mounts, no_buckets
from local.cloud.nodes.mounts import Mount
from tests.local.conftest import ROOT

needs_namespaces = pytest.mark.skipif(not mounts.possible(), reason="this machine has no user namespaces")
_ENTER = """
import os, sys
from local.cloud.nodes.mounts import Mount, enter
words = sys.argv[1:]
mounts = []
while words[0] != "--":
    mounts.append(Mount(words.pop(0), words.pop(0)))
enter(mounts)
os.execvp(words[1], words[1:])
"""


def seen(command: tuple[str, ...], *found: Mount) -> subprocess.CompletedProcess[str]:
    """Run a command where the mounts are seen."""
    words = [word for mount in found for word in (mount.source, mount.point)]
    whole = [sys.executable, "-c", _ENTER, *words, "--", *command]
    return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_path_of_a_server_is_one_folder_inside_the_state_folder_whatever_it_is_called(tmp_path: Path) -> None:
    assert mounts.source(tmp_path, "10.0.0.2", "/share/a") == tmp_path / "nfs" / "10.0.0.2" / "share" / "a"
    for server, path in (("../../x", "/a"), ("s", "/../../../etc"), ("s", "//etc"), ("..", "/a"), (".", "/")):
        parent = mounts.source(tmp_path, server, path).resolve().parent
        assert parent.is_relative_to(tmp_path / "nfs"), path


@needs_namespaces
def test_what_one_writes_the_other_reads_and_the_machine_itself_has_no_such_folder(tmp_path: Path) -> None:
    shared = Mount(str(tmp_path / "share of all"), "data/deep")
    assert not seen(("sh", "-c", 'echo "$0" > /mnt/nfs/data/deep/file', "two words"), shared).stderr
    other = Mount(str(tmp_path / "other"), "other")
    assert seen(("cat", "/mnt/nfs/data/deep/file"), other, shared).stdout == "two words\n"
    assert not Path("/mnt/nfs/data/deep").exists()


@needs_namespaces
def test_what_the_machine_has_stays_in_sight(tmp_path: Path) -> None:
    for folder, more in ((Path("/"), {mounts.BUCKETS}), (Path("/mnt"), {"nfs"})):
        names = seen(("ls", "-A", str(folder)), Mount(str(tmp_path), "a")).stdout.split("\n")[:-1]
        there = {path.name for path in folder.iterdir()}
        assert set(names) == there | more, folder
    here = seen(("sh", "-c", "pwd; id -u; stat -c %u ."), Mount(str(tmp_path), "a")).stdout.split()
    assert here == [str(ROOT), str(os.getuid()), str(ROOT.stat().st_uid)]


@needs_namespaces
def test_nothing_can_be_written_where_buckets_would_be(tmp_path: Path) -> None:
    done = seen(("sh", "-c", "mkdir -p /gcs/bucket; echo x > /gcs/bucket/file"), Mount(str(tmp_path), "a"))
    assert done.returncode and "/gcs" in done.stderr
    assert not Path("/gcs/bucket").exists()


@needs_namespaces
def test_the_commands_exit_code_and_signals_are_its_own(tmp_path: Path) -> None:
    assert seen(("sh", "-c", "kill -TERM $$"), Mount(str(tmp_path / "a"), "a")).returncode == -15


@pytest.mark.skipif(os.path.ismount("/gcs"), reason="this machine has buckets there")
@pytest.mark.parametrize("attempt", ["open('/gcs/b/f', 'w')", "os.makedirs('/gcs/b')", "os.listdir(b'/gcs/b')"])
def test_code_in_a_job_without_buckets_is_told_so_where_it_uses_them(attempt: str) -> None:
    code = f"import os; import local.cloud.nodes.no_buckets; open('/dev/null'); {attempt}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "CLOUD_ML_JOB_ID": "7"}, capture_output=True, text=True, check=False
    )
    assert done.returncode and no_buckets.WHY in done.stderr
    assert not Path("/gcs/b").exists()
