"""Why user code never started, told by what prepares its replica. # N4"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from vertex_local.nodes import downloads, logfile, mounts
from vertex_local.nodes.mounts import Mount
from vertex_local.nodes.preparation import prepared, show_outside
from vertex_local.nodes.runner import Runner
from vertex_local.nodes.spec import ReplicaSpec, UnreadyError

SPEC: Any = SimpleNamespace(image="python:3.10", shares_images=False)


def test_a_machine_without_uv_is_told_that_it_is_missing() -> None:
    with pytest.raises(UnreadyError, match="uv, which builds environments for jobs, is not installed"):
        prepared(SPEC, lambda command: None, None, lambda line: None)


def test_a_full_disk_is_told_before_anything_is_made(tmp_path: Path) -> None:
    spec: Any = SimpleNamespace(**vars(SPEC), environment_folder=str(tmp_path / "a" / "b"), least_free_bytes=10**18)
    with pytest.raises(UnreadyError, match=r"The disk is full: \d+ MB are free at .*`vertex-local cache clear`"):
        prepared(spec, lambda command: None, "uv", lambda line: None)
    assert not (tmp_path / "a").exists()


def test_a_tool_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadyError, match=r"^sh -c echo full; exit 3 failed with status 3: full$"):
        Runner(tmp_path, SPEC)._tool(("/bin/sh", "-c", "echo full; exit 3"))


def test_an_environment_lets_its_user_install_and_the_image_stays_as_it_is(tmp_path: Path) -> None:  # N17
    image, copy = tmp_path / "image", tmp_path / "copy"
    for folder in (image, copy):
        folder.mkdir()
    (image / "pyvenv.cfg").write_text("home = /x\ninclude-system-site-packages = false\nversion_info = 3\n")
    os.link(image / "pyvenv.cfg", copy / "pyvenv.cfg")
    show_outside(copy)
    assert (copy / "pyvenv.cfg").read_text() == "home = /x\ninclude-system-site-packages = true\nversion_info = 3\n"
    assert "= false" in (image / "pyvenv.cfg").read_text()


# --- A replica reads its package while the local cloud is killed and started again. # N2


class Spec:
    """The part of a replica's specification that a download needs."""

    class identity:  # noqa: N801 - a field of the specification
        token, email = "t", "a@b"

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"


class Storage(BaseHTTPRequestHandler):
    """Has every object but those called missing. The first that is called cut ends before its end."""

    cut_before = False

    def do_GET(self) -> None:
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        cut, Storage.cut_before = "cut" in self.path and not Storage.cut_before, True
        self.wfile.write(b"con" if cut else b"content")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def storage() -> Iterator[int]:
    """The port of one that runs."""
    Storage.cut_before = False
    with HTTPServer(("127.0.0.1", 0), Storage) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield server.server_port
        server.shutdown()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_it_is_asked_for_again_until_somebody_answers(tmp_path: Path) -> None:
    """A job failed, which nobody sends again, when the cloud was down for the seconds of its start."""
    port, servers, slept = free_port(), list[HTTPServer](), list[float]()
    spec: Any = Spec(port)

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            servers.append(HTTPServer(("127.0.0.1", port), Storage))
            threading.Thread(target=servers[0].serve_forever, args=(0.01,)).start()

    try:
        got = downloads.download(spec, "gs://b/p.tar.gz", tmp_path / "d", lambda _: None, sleep)
        assert got.read_bytes() == b"content"
        assert len(slept) == 3
        with pytest.raises(UnreadyError, match="can't be read by a@b: HTTP 404"):
            downloads.download(spec, "gs://b/missing", tmp_path / "d", lambda _: None, sleep)
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def test_it_is_given_up_where_nobody_ever_answers(tmp_path: Path) -> None:
    slept: list[float] = []
    with socket.socket() as held, pytest.raises(UnreadyError, match="gs://b/p can't be read: "):
        held.bind(("127.0.0.1", 0))  # and nobody listens
        spec = cast(ReplicaSpec, Spec(held.getsockname()[1]))
        downloads.download(spec, "gs://b/p", tmp_path / "d", lambda _: None, slept.append)
    assert sum(slept) == 300


def test_one_that_is_cut_off_is_asked_for_again_and_never_used(storage: int, tmp_path: Path) -> None:
    """A part of a package, sent before the cloud was killed, used to count as all of it."""
    slept: list[float] = []
    spec: Any = Spec(storage)
    got = downloads.download(spec, "gs://b/cut", tmp_path / "d", lambda _: None, slept.append)
    assert got.read_bytes() == b"content"
    assert len(slept) == 1


def test_a_disk_that_takes_nothing_is_told_at_once(storage: int, tmp_path: Path) -> None:
    (tmp_path / "d" / "p").mkdir(parents=True)  # no file can be written there
    slept: list[float] = []
    spec: Any = Spec(storage)
    with pytest.raises(UnreadyError, match=r"gs://b/p can't be read: .*Is a directory"):
        downloads.download(spec, "gs://b/p", tmp_path / "d", lambda _: None, slept.append)
    assert not slept


# --- A replica's own view of this machine's files: what replicas of different jobs see, and nobody else.


needs_namespaces = pytest.mark.skipif(not mounts.possible(), reason="this machine has no user namespaces")
_ENTER = """
import os, sys
from vertex_local.nodes.mounts import Mount, enter
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


# --- A replica's log, whatever user code prints. (N4)


def written(folder: Path, text: str) -> logfile.Line:
    path = folder / "log"
    logfile.LogFile(path).user(text, "INFO")
    (line,), _ = logfile.read(path, 0, 1 << 20)
    return line


def test_a_line_in_json_with_a_message_is_taken_apart(tmp_path: Path) -> None:
    line = written(tmp_path, json.dumps({"message": "m", "severity": "warning", "loss": 0.5, "who": "😀"}))
    assert (line.severity, line.text, line.fields) == ("WARNING", "", {"message": "m", "loss": 0.5, "who": "😀"})


@pytest.mark.parametrize(
    "text",
    [
        '{"message": "loss", "loss": NaN}',
        '{"message": "loss", "loss": -Infinity}',
        '{"message": "\\ud800"}',
        '{"message": ' * 5000,
        '{"loss": 1}',
        "{",
    ],
)
def test_a_line_that_no_client_could_read_as_json_stays_a_text(tmp_path: Path, text: str) -> None:
    line = written(tmp_path, text)
    assert (line.severity, line.text, line.fields) == ("INFO", text, None)


def read_in_parts(*parts: bytes) -> list[bytes]:
    """The lines of a stream whose bytes come so."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as out, os.fdopen(reading, "rb") as stream:
        found: list[bytes] = []
        thread = threading.Thread(target=lambda: found.extend(logfile.lines(stream)))
        thread.start()
        for part in parts:
            out.write(part)
        out.close()
        thread.join()
    return found


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b"a\n\nb\r\nc"], [b"a", b"", b"b", b"c"]),
        ([b"a\r", b"\nb\r\r\n"], [b"a", b"b"]),
        ([b"\r 10%", b"\r 20%", b"\r 30%\n", b"done\n"], [b" 10%", b" 20%", b" 30%", b"done"]),
        ([b"one\rtwo\r"], [b"one", b"two"]),
        ([b"", b"\r\r"], []),
    ],
)
def test_a_bar_that_goes_back_to_its_beginning_is_a_line_for_each_move(parts: list[bytes], lines: list[bytes]) -> None:
    assert read_in_parts(*parts) == lines


@given(st.lists(st.text("a\r\n", max_size=6).map(str.encode), max_size=6))
def test_lines_are_the_same_however_their_bytes_come(parts: list[bytes]) -> None:
    assert read_in_parts(*parts) == read_in_parts(b"".join(parts))


def test_a_line_without_an_end_comes_in_parts() -> None:
    long = b"x" * (2 * logfile.LINE_BYTES + 5)
    assert [len(part) for part in read_in_parts(long)] == [logfile.LINE_BYTES, logfile.LINE_BYTES, 5]


def test_a_bar_can_be_seen_while_it_moves() -> None:
    """The line came when it was full: hours of a training in one line at its end."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as out, os.fdopen(reading, "rb") as stream:
        lines = logfile.lines(stream)
        out.write(b"\r  0%|    | 0/2\r 50%|##  | 1/2")
        assert next(lines) == b"  0%|    | 0/2"
        out.write(b"\r100%|####| 2/2")
        assert next(lines) == b" 50%|##  | 1/2"
