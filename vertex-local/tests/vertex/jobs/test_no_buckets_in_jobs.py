"""Jobs where no buckets can be mounted: refused as they name /gcs/, failed as they write there. (N17)"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.vertex.jobs.test_running_jobs import submit, task
from vertex_local.nodes import mounts, no_buckets
from vertex_local.testing.local_cloud import FAST, LocalCloud

pytestmark = pytest.mark.skipif(not mounts.possible(), reason="no such machine can be played on this one")
_WITHOUT = """
import ctypes, os, runpy, struct, sys
from pathlib import Path
from vertex_local.nodes import mounts

def forbid(system_call):
    steps = ((0x20, 0, 0, 0), (0x15, 0, 1, system_call), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert not libc.prctl(38, 1, 0, 0, 0) and not libc.prctl(22, 2, program)

without, *words = sys.argv[1:]
mounts.enter()
Path("/gcs").unlink()  # The root is in memory, and anybody's here, as it is root's elsewhere.
if without == "fuse":
    mounts._mount("/dev/null", "/dev/fuse", "", 0x1000)
else:
    forbid({"x86_64": 272, "aarch64": 97}[os.uname().machine])  # unshare
assert (mounts.possible(), mounts.possible(buckets=True)) == (without == "fuse", False)
sys.argv[1:] = words
runpy.run_module("vertex_local.cli.main", run_name="__main__")
"""


@pytest.fixture(scope="module", params=["fuse", "mounts"])
def bare(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """Yield a cloud on a machine that has no FUSE, or no mounts of a process's own."""
    mine = LocalCloud(tmp_path_factory.mktemp("bare"))
    settings = [word for setting in FAST for word in ("--set", setting)]
    command = [sys.executable, "-c", _WITHOUT, request.param, "up", *settings]
    done = subprocess.run(command, cwd=ROOT, env=mine.base_env(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    yield mine
    mine.command("down")


def test_who_writes_there_anyway_fails_each_time_python_is_told_why_and_who_writes_elsewhere_succeeds(
    bare: LocalCloud,
) -> None:
    """The second one finds the folder that the first one may have made."""
    shell = task("", command=["sh", "-c", "cd /; mkdir -p gcs/b; echo 1 > gcs/b/out"])
    bare.until(submit(bare, shell), "JOB_STATE_FAILED")
    name = submit(bare, task("from pathlib import Path; Path('/gcs', 'b').mkdir(parents=True)"))
    bare.until(name, "JOB_STATE_FAILED")
    assert no_buckets.WHY in "\n".join(bare.lines(name))
    bare.until(submit(bare, task("open('out', 'w')")), "JOB_STATE_SUCCEEDED")
    assert not Path("/gcs/b").exists()
