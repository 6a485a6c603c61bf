import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import psutil
import pytest

from local.plugin import installation
from local.plugin.installation import InstallError, install
from local.plugin.official import held

_PYTHON = Path(sys.executable)


def _binary(folder: Path) -> Path:
    return folder / "pulumi-resource-gcp"


def test_the_local_plugin_lies_where_the_engine_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLIPWAY_GCP_PLUGIN", raising=False)
    folder = install(tmp_path / "home", _PYTHON)
    assert folder == tmp_path / "home" / "plugins" / "resource-gcp-v10.2.0"
    assert os.access(_binary(folder), os.X_OK)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_installing_again_changes_nothing(tmp_path: Path) -> None:
    first = _binary(install(tmp_path, _PYTHON, "")).stat()
    second = _binary(install(tmp_path, _PYTHON, "")).stat()
    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)


def test_several_at_once_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    pythons = [Path(f"/bin/python{number}") for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        (folder,) = set(pool.map(lambda python: install(tmp_path, python, ""), pythons))
    assert any(str(python) in _binary(folder).read_text() for python in pythons)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_another_python_takes_its_place(tmp_path: Path) -> None:
    install(tmp_path, Path("/old/bin/python"), "")
    assert str(_PYTHON) in _binary(install(tmp_path, _PYTHON, "")).read_text()


def test_a_half_made_installation_is_mended(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "resource-gcp-v10.2.0"
    folder.mkdir(parents=True)
    folder.with_name(f"{folder.name}.partial").touch()
    assert _binary(install(tmp_path, _PYTHON, "")).is_file()
    assert not folder.with_name(f"{folder.name}.partial").exists()


def test_paths_with_spaces_and_quotes_are_no_hindrance(tmp_path: Path) -> None:
    odd = tmp_path / "a 'b' $c"
    odd.mkdir()
    (odd / "python").symlink_to(_PYTHON)
    text = _binary(install(tmp_path, odd / "python", "")).read_text()
    shown = text.replace("exec ", "printf '%s|' ", 1)
    said = subprocess.run(["sh", "-c", shown], capture_output=True, text=True, check=True).stdout
    assert said.split("|")[0] == str(odd / "python")


def _official(path: Path) -> Path:
    """A stand-in for the official plugin that prints what it was started with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\necho "$HTTPS_PROXY $https_proxy $NO_PROXY $GCE_METADATA_HOST $1"\n')
    path.chmod(0o755)
    return path


def _started(folder: Path) -> str:
    proxies = {"HTTPS_PROXY": "http://corp.example:3128", "NO_PROXY": "googleapis.com"}
    done = subprocess.run(
        [_binary(folder), "engine"], env={**os.environ, **proxies}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


_CONFINED = "http://127.0.0.1:9 http://127.0.0.1:9 127.0.0.1,localhost,::1 127.0.0.1:9 engine"


def test_an_official_plugin_is_started_where_it_reaches_this_machine_alone(tmp_path: Path) -> None:
    """It asks Google at each start whose token it was given, whatever endpoints it has."""
    folder = install(tmp_path / "home", _PYTHON, str(_official(tmp_path / "the 'official' one")))
    assert _started(folder) == _CONFINED
    assert "-m local.plugin" in _binary(install(tmp_path / "home", _PYTHON, "")).read_text()


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_a_path_that_is_no_plugin_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InstallError, match="fix: give the path of pulumi-resource-gcp"):
        install(tmp_path / "home", _PYTHON, str(tmp_path / name))


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home on a machine that has no official plugin."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path / "person"


def test_auto_takes_the_official_plugin_of_this_home_and_keeps_it(tmp_path: Path, bare: Path) -> None:
    put = _official(tmp_path / "plugins" / "resource-gcp-v10.2.0" / "pulumi-resource-gcp")
    for name in (str(put), "auto", "auto"):
        assert _started(install(tmp_path, _PYTHON, name)) == _CONFINED
    install(tmp_path, _PYTHON, "")
    assert "-m local.plugin" in put.read_text()
    assert _started(install(tmp_path, _PYTHON, "auto")) == _CONFINED


def test_auto_takes_the_one_on_path_or_in_the_persons_home(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = _official(bare / ".pulumi" / "plugins" / "resource-gcp-v10.2.0" / "pulumi-resource-gcp")
    folder = install(tmp_path / "home", _PYTHON, "auto")
    assert str(own) in _binary(folder).read_text() and _started(folder) == _CONFINED
    on_path = _official(tmp_path / "bin" / "pulumi-resource-gcp")
    monkeypatch.setenv("PATH", f"{on_path.parent}:/usr/bin:/bin")
    folder = install(tmp_path / "home", _PYTHON, "auto")
    assert str(on_path) in _binary(folder).read_text() and _started(folder) == _CONFINED


def test_auto_says_where_it_looked_in_vain(tmp_path: Path, bare: Path) -> None:
    with pytest.raises(InstallError, match="fix: give the path of pulumi-resource-gcp"):
        install(tmp_path, _PYTHON, "auto")


def test_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "local.plugin.installation", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == tmp_path / "plugins" / "resource-gcp-v10.2.0"


# --- The plugin as the engine starts it.


@pytest.mark.journey
def test_the_engine_keeps_no_log_of_its_commands_here(engine: Path, tmp_path: Path) -> None:
    install(tmp_path, _PYTHON, "")
    command = [str(engine / "pulumi"), "plugin", "ls", "--json"]
    subprocess.run(command, env={**os.environ, "PULUMI_HOME": str(tmp_path)}, capture_output=True, check=True)
    assert (tmp_path / "logs").read_text() == ""


def test_it_does_not_outlive_an_engine_that_was_killed(tmp_path: Path) -> None:
    binary = installation.install(tmp_path, Path(sys.executable)) / "pulumi-resource-gcp"
    # A stand-in for the engine: it starts the plugin, reads its port and is killed.
    engine = f"exec 3< <({binary}); read -r port <&3; echo $!; kill -9 $$"
    shell = subprocess.Popen(["bash", "-c", engine], stdout=subprocess.PIPE, text=True)
    assert shell.stdout is not None
    child = int(shell.stdout.readline())
    shell.wait()
    shell.stdout.close()
    assert ends(child)


def ends(pid: int) -> bool:
    """Tell whether a process ends within a minute."""
    try:
        process = psutil.Process(pid)
        for _ in range(600):
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
            time.sleep(0.1)
    except psutil.NoSuchProcess:
        return True
    return False


# --- An official plugin: what it can reach, and when it ends. gcp-provider.md, seen again.


# As the official one does at each start, by Google's own client: whose token it is, and whether it is in the cloud.
_ASKS = """#!{python}
import requests
from google.auth.compute_engine import _metadata
from google.auth.exceptions import TransportError
from google.auth.transport.requests import Request

for ask in (
    lambda: _metadata.get_project_id(Request()),
    lambda: requests.get("https://oauth2.googleapis.com/tokeninfo", timeout=60),
    lambda: requests.get("http://metadata.google.internal/computeMetadata/v1/", timeout=60),
    lambda: requests.get("http://169.254.169.254/", timeout=60),
):
    try:
        ask()
    except (requests.RequestException, TransportError):
        pass
"""
# One that goes on, whatever the engine does.
_STAYS = """#!/bin/sh
trap '' INT TERM
echo $$
while :; do sleep 1; done
"""
_LEAVES = """#!/bin/sh
trap 'exit 7' INT
echo $$
while :; do sleep 1; done
"""


def _plugin(folder: Path, text: str) -> Path:
    """Installed into a home of its own: the program that the engine starts."""
    official = folder / "official"
    official.write_text(text)
    official.chmod(0o755)
    return install(folder / "home", Path(sys.executable), str(official)) / "pulumi-resource-gcp"


def test_whatever_it_asks_beyond_this_machine_arrives_nowhere(tmp_path: Path) -> None:
    """Its connections, watched: all four ways out lead to one address."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as nowhere:
        Thread(target=_refuse, args=(nowhere, asked), daemon=True).start()
        environ = held(os.environ, f"127.0.0.1:{nowhere.getsockname()[1]}")
        script = tmp_path / "asks"
        script.write_text(_ASKS.format(python=sys.executable))
        subprocess.run([sys.executable, script], env=environ, check=True)
    lines = [line.split(b" HTTP/")[0].decode() for line in asked]
    assert lines[0].startswith("GET /computeMetadata/v1/project/project-id")
    assert lines[-3:] == [
        "CONNECT oauth2.googleapis.com:443",
        "GET http://metadata.google.internal/computeMetadata/v1/",
        "GET http://169.254.169.254/",
    ]


def _refuse(server: socket.socket, asked: list[bytes]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            asked.append(connection.recv(65536).split(b"\r\n")[0])
            connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def test_an_official_one_does_not_outlive_it_either(tmp_path: Path) -> None:
    binary = _plugin(tmp_path, _STAYS)
    # A stand-in for the engine: it starts the plugin, reads its first line and is killed.
    engine = f"exec 3< <({binary}); read -r plugin <&3; echo $! $plugin; kill -9 $$"
    shell = subprocess.run(["bash", "-c", engine], capture_output=True, text=True, check=False)
    assert shell.returncode == -signal.SIGKILL
    assert all(ends(int(pid)) for pid in shell.stdout.split())


@pytest.mark.parametrize("alone", [True, False])
def test_it_ends_with_the_signal_by_which_an_engine_ends_its_plugins(tmp_path: Path, alone: bool) -> None:
    process = subprocess.Popen([_plugin(tmp_path, _LEAVES)], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    plugin = int(process.stdout.readline())
    process.send_signal(signal.SIGINT) if alone else os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 7
    process.stdout.close()
    assert ends(plugin)
