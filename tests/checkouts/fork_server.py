"""Programs and providers of the engine, and local clouds, forked from a process with their imports done.

The imports are over half of such a process's cost, and a run of the engine starts three. Nothing else of theirs is done
before: each reads its own variables, files and streams, and has the modules of this checkout. A process that a test
starts to kill is a process from its first line on, as are those of the demo, of CI, and of a checkout with code of its
own.
"""

import atexit
import contextlib
import gc
import os
import random
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from tests.checkouts import fork_client

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "plugin"
"""The word for the provider, in place of a program's path."""
CLOUD = "cloud"
"""The word for a local cloud, likewise."""
SLIPWAY = "slipway"
"""The word for `python -I -m slipway`, likewise."""
_MODULES = (
    "components.program",
    "components.group",
    "local.plugin.__main__",
)
_SIGINT = 128 + signal.SIGINT
_CLASSES = {
    "vertex": ("AiPersistentResource",),
    "storage": ("Bucket", "BucketIAMMember", "BucketObject"),
    "serviceaccount": ("Account", "IAMMember"),
    "projects": ("IAMMember",),
}
_MESSAGES = (
    ("google.cloud.aiplatform_v1", "custom_job", "CustomJob"),
    ("google.cloud.cloudquotas_v1", "resources", "QuotaInfo"),
)
# A checkout with other code in a package of ours has its own program, and another environment has other packages.
_PYTHON = """#!/bin/sh
same() {{
    [ ! -e components ] && {{ [ ! -e slipway ] || [ slipway -ef {root}/slipway ]; }} &&
        [ "$(command -v python3)" = {python} ]
}}
case "$1" in
*/pulumi-language-python-exec) ! same || exec {client} "$@" ;;
esac
exec {ordinary} "$@"
"""
_OF_SCRIPTS = (
    *("front.cli.check", "front.cli.doctor", "front.cli.review", "google.connection"),
    *("deploying.deployment.deployment", "operating.doctor.examination"),
    *("reviewing.forges.github", "reviewing.forges.gitlab", "reviewing.render.comment"),
)
_FORKED_PLUGIN = f'[ -z "${fork_client.SERVER}" ] || exec {{client}} {PLUGIN} "$@"'


@contextlib.contextmanager
def serving(folder: Path, python: str) -> Iterator[Mapping[str, str]]:
    """Yield the variables of runs of the engine whose program and provider are forked; none where that can't be done.

    `folder` has a short path, as sockets must; `python` is the ordinary command of the engine's language host.
    """
    if sys.platform != "linux":
        yield {}
        return
    script = folder / "python.sh"
    own = shlex.quote(str(Path(sys.executable).with_name("python3")))
    script.write_text(
        _PYTHON.format(root=shlex.quote(str(ROOT)), python=own, client=client(), ordinary=shlex.quote(python))
    )
    script.chmod(0o755)
    with started(folder / "socket", "engine") as process:
        yield {"PULUMI_PYTHON_CMD": str(script), fork_client.SERVER: str(folder / "socket")}
        assert process.stdin
        process.stdin.close()


def started(path: Path, what: str) -> subprocess.Popen[bytes]:
    """Return a server at a socket's path, with the imports of `what`, an engine's or a cloud's; it ends with its
    input."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.checkouts.fork_server", str(path), what],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout and process.stdout.readline()
    return process


def let_fork(plugin: Path) -> None:
    """Let the script that starts the local provider ask the server, in runs that have its variables."""
    script = plugin.read_text()
    if "-m local.plugin " in script:  # and no official one
        first, rest = script.split("\n", 1)
        plugin.write_text(f"{first}\n{_FORKED_PLUGIN.format(client=client())}\n{rest}")


def client() -> str:
    return shlex.join((sys.executable, "-IS", fork_client.__file__))


def _import_cloud() -> None:
    from vertex_local import discovery
    from vertex_local.nodes import mounts
    from vertex_local.testing.calling import every_service
    from vertex_local.vertex.messages import MESSAGES

    with tempfile.TemporaryDirectory() as folder, every_service(Path(folder)):
        pass  # It compiles the patterns of all routes.
    for buckets in (False, True):
        mounts.possible(buckets=buckets)  # Each cloud would start a process for the same answer.
    for version in MESSAGES.packages:
        for name in MESSAGES.modules:
            MESSAGES.descriptor(version, name)
    discovery.method_of("GET", "/v1/projects")


def _import_engine() -> None:
    for module in _MODULES:
        import_module(module)
    from components import gcp
    from slipway.google.messages import message

    for service, names in _CLASSES.items():
        for name in names:
            getattr(getattr(gcp, service), name)
    for package, module, name in _MESSAGES:
        message(package, module, name)


def _import_slipway() -> None:
    from slipway.google.messages import message

    for module in _OF_SCRIPTS:
        import_module(f"slipway.{module}")
    for package, module, name in _MESSAGES:
        message(package, module, name)


_IMPORTS = {"engine": _import_engine, CLOUD: _import_cloud, SLIPWAY: _import_slipway}


def _serve(path: str) -> socket.socket | None:
    """Fork for each connection, until no process holds the standard input any more. In a child, return its
    connection."""
    ended, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    waiting = select.epoll()
    for descriptor in (sys.stdin.fileno(), ended, listener.fileno()):
        waiting.register(descriptor, select.EPOLLIN)
    living = dict[int, tuple[int, socket.socket]]()  # processes, by their connection's number
    print("ready", flush=True)
    while True:
        for descriptor, _ in waiting.poll(maxevents=1):  # the next one's number may be another's by then
            if descriptor == sys.stdin.fileno():
                for pid, _ in living.values():
                    os.kill(pid, signal.SIGKILL)
                return None
            if descriptor == ended:
                os.read(ended, 4096)
                _bury(living)
            elif descriptor == listener.fileno():
                connection, _ = listener.accept()
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    waiting.close()
                    for sock in (listener, *(other for _, other in living.values())):
                        sock.close()
                    return connection
                living[connection.fileno()] = pid, connection
                waiting.register(connection, select.EPOLLRDHUP | select.EPOLLHUP)
            elif descriptor in living:  # The client has ended.
                os.kill(living[descriptor][0], signal.SIGKILL)
                waiting.unregister(descriptor)


def _bury(living: dict[int, tuple[int, socket.socket]]) -> None:
    """Tell the clients of ended processes how they ended."""
    by_process = {pid: descriptor for descriptor, (pid, _) in living.items()}
    while by_process:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        _, connection = living.pop(by_process.pop(pid))
        with contextlib.suppress(OSError), connection:
            connection.send(fork_client.said(os.waitstatus_to_exitcode(status)))


def _become(connection: socket.socket) -> None:
    """Become the requested process, with its words, folder, variables and streams."""
    folder, words, variables, streams = fork_client.receive(connection)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environb.update(variables)
    os.chdir(folder)
    random.seed()
    if os.environ.get("PYTHONUNBUFFERED"):
        for text in (sys.stdout, sys.stderr):
            text.reconfigure(write_through=True)  # type: ignore[union-attr]
    sys.argv = [*map(os.fsdecode, words)]
    program = sys.argv[0]
    if program == CLOUD:
        from vertex_local.server.main import main as serve

        os.setsid()
        connection.send(fork_client.said(os.getpid()))
        sys.exit(serve(sys.argv[1:]))
    elif program == PLUGIN:
        from local.plugin.__main__ import main

        main()
    elif program == SLIPWAY:
        from slipway.front.cli import run

        # The server's own have read where they stood in its streams.
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        run()
    else:
        sys.path.insert(0, str(Path(program).parent))
        runpy.run_path(program, run_name="__main__")


def _leave() -> None:
    """End without taking the modules apart, which would copy all of their memory. Registered first, it runs last."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_code)


if __name__ == "__main__":
    _code = 1  # that of an exception
    atexit.register(_leave)
    _IMPORTS[sys.argv[2]]()
    gc.collect()
    gc.freeze()
    born = _serve(sys.argv[1])
    try:
        if born:
            _become(born)
        _code = 0
    except SystemExit as ended:
        _code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise
    except KeyboardInterrupt:
        _code = _SIGINT
        raise
