"""NFS mounts: what replicas of different jobs see at the same place."""

import subprocess
from pathlib import Path

import pytest

from local.cloud.nodes import mounts
from local.cloud.nodes.mounts import Mount

needs_namespaces = pytest.mark.skipif(not mounts.possible(), reason="this machine has no user namespaces")


def test_without_mounts_a_command_is_what_it_was() -> None:
    assert mounts.mounted(("python", "-m", "x"), ()) == ["python", "-m", "x"]


def test_a_path_of_a_server_is_one_folder_inside_the_state_folder_whatever_it_is_called(tmp_path: Path) -> None:
    assert mounts.source(tmp_path, "10.0.0.2", "/share/a") == tmp_path / "nfs" / "10.0.0.2" / "share" / "a"
    for server, path in (("../../x", "/a"), ("s", "/../../../etc"), ("s", "//etc"), ("..", "/a"), (".", "/")):
        parent = mounts.source(tmp_path, server, path).resolve().parent
        assert parent.is_relative_to(tmp_path / "nfs"), path


@needs_namespaces
def test_what_one_writes_the_other_reads_and_the_machine_itself_has_no_such_folder(tmp_path: Path) -> None:
    shared = Mount(str(tmp_path / "share of all"), "data/deep")
    write = mounts.mounted(("sh", "-c", 'echo "$0" > /mnt/nfs/data/deep/file', "two words"), (shared,))
    subprocess.run(write, check=True)
    other = Mount(str(tmp_path / "other"), "other")
    read = mounts.mounted(("cat", "/mnt/nfs/data/deep/file"), (other, shared))
    assert subprocess.run(read, check=True, capture_output=True, text=True).stdout == "two words\n"
    assert not Path("/mnt/nfs/data/deep").exists()


@needs_namespaces
def test_what_the_machine_has_under_mnt_stays_in_sight(tmp_path: Path) -> None:
    there = sorted(path.name for path in Path("/mnt").iterdir() if path.is_dir())
    seen = subprocess.run(
        mounts.mounted(("ls", "/mnt"), (Mount(str(tmp_path), "a"),)),
        check=True,
        capture_output=True,
        text=True,
    )
    assert seen.stdout.split("\n")[:-1] == sorted({*there, "nfs"})


@needs_namespaces
def test_the_commands_exit_code_and_signals_are_its_own(tmp_path: Path) -> None:
    command = mounts.mounted(("sh", "-c", "kill -TERM $$"), (Mount(str(tmp_path / "a"), "a"),))
    assert subprocess.run(command, check=False).returncode == -15
