"""The process of one replica: `python -m vertex_local.nodes.runner SPECFILE`.

The runner lives in a session of its own and needs nobody: it prepares, runs user code, writes the log as lines come,
and leaves `exit.json` when all is over. A replica runs once: a runner that finds a claim does not run it again.
"""

import contextlib
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO

from .. import files
from ..clock import timestamp
from ..images import cache, upkeep
from . import environment, logfile, no_buckets, nvidia_smi, preparation, processes
from . import spec as specs
from .logfile import LogFile
from .metadata_server import MetadataServer
from .spec import Phase, ReplicaSpec, UnreadyError
from .user_process import UserProcess

_LOCK_WAIT_S = 3.0
_LOOK_S = 1.0
_TOOL_POLL_S = 0.1
_READERS_WAIT_S = 30.0
_KEEP_S = 60.0
_KILL_WAIT_S = 1.0
_REAP_S = 2.0
_SYSTEM = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""The folders of programs that each image has: who started the cloud may have others on their PATH."""
_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
_PASSED_ON_PREFIXES = ("PIP_", "UV_")


class StopError(Exception):
    """The replica was asked to end."""


class Runner:
    def __init__(self, folder: Path, spec: ReplicaSpec) -> None:
        self._folder, self._spec = folder, spec
        self._log = LogFile(folder / specs.LOG)
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._over: datetime | None = None
        self._stopping = False

    def run(self) -> None:
        """Run the replica to its end. Always leaves an exit file, unless it is killed."""
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGINT, self._on_term)
        try:
            specs.make_temporary(self._folder)  # for the tools too: uv leaves a lock for each source that it builds
            self._look()
            home = preparation.prepared(self._spec, self._tool, _uv(), self._log.service)
            self._look()
            code = self._execute(home)
            # A signal to the whole machine reaches user code as well, which may end first.
            if not self._stopping and self._events.empty():
                return self._exit("exited", code)
        except StopError:
            pass
        except (UnreadyError, files.BusyError, OSError) as error:
            self._log.service(str(error), "ERROR")
            return self._exit("unready", message=str(error))
        # A runner that ends without a request is a machine that went away.
        return self._exit("stopped" if (self._folder / specs.STOP).exists() else "lost")

    def _execute(self, home: Path) -> int:
        work = self._folder / "work"
        work.mkdir(exist_ok=True)
        specs.make_temporary(self._folder)
        if self._spec.accelerators:
            nvidia_smi.put(self._folder)
        metadata = MetadataServer(self._spec.host, self._spec.identity)
        variables = self._variables(home, work, metadata.address)
        command = self._command(home, variables)
        process = UserProcess(command, self._spec, self._folder, variables)
        with metadata:  # whose thread starts now that this process was forked
            return self._followed(process)

    def _followed(self, process: UserProcess) -> int:
        """Return the exit code, when user code has ended and all of it is written."""
        child = process.popen
        files.write_json(self._folder / specs.STARTED, {"time": timestamp(datetime.now(UTC)), "pid": child.pid})
        readers = [self._reader(child.stdout, "INFO"), self._reader(child.stderr, "ERROR")]
        threading.Thread(target=lambda: self._events.put(f"exit {child.wait()}"), daemon=True).start()
        ended = threading.Event()
        threading.Thread(target=_reap, args=(child.pid, ended), daemon=True).start()
        code = self._wait(process)
        self._over = datetime.now(UTC)
        process.keep(self._grace_s() if self._stopping else _KEEP_S)
        ended.set()
        processes.end_replica(os.getpid(), processes.birth(os.getpid()), self._folder)
        for reader in readers:
            reader.join(_READERS_WAIT_S)
        if process.wrote_astray():
            self._log.service(f"What it wrote to /gcs of this machine is in no bucket: {no_buckets.WHY}", "ERROR")
            return code or 1
        return 128 - code if code < 0 else code

    def _wait(self, process: UserProcess) -> int:
        """Return the exit code. When asked to stop, the process gets SIGTERM, and SIGKILL after the grace."""
        group = process.popen.pid
        event = self._first_event()
        if event == "stop":
            self._stopping = True
            _signal_group(group, signal.SIGTERM)
            until = time.monotonic() + self._grace_s()
            while event == "stop":
                try:
                    event = self._events.get(timeout=max(until - time.monotonic(), 0))
                except queue.Empty:
                    process.abandon()  # or half of a file would be kept
                    _signal_group(group, signal.SIGKILL)
                    until = time.monotonic() + _KILL_WAIT_S
        return int(event.removeprefix("exit "))

    def _first_event(self) -> str:
        """Return the first event. It looks up now and then, as a signal acts only after a wait."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._events.get(timeout=_LOOK_S)

    def _grace_s(self) -> float:
        chosen = (files.read_json(self._folder / specs.STOP) or {}).get("graceSeconds")
        return self._spec.grace_s if chosen is None else float(chosen)

    def _command(self, home: Path, variables: dict[str, str]) -> list[str]:
        words = [environment.expanded(word, variables) for word in (*self._spec.command, *self._spec.args)]
        python = str(home / "bin" / "python")
        return [python, "-m", self._spec.module, *words] if self._spec.module else words or [python]

    def _variables(self, home: Path, work: Path, metadata: str) -> dict[str, str]:
        passed = {
            name: value
            for name, value in os.environ.items()
            if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
        }
        known = {
            **passed,
            **dict.fromkeys(environment.THREADS, str(self._spec.threads)),
            "PATH": os.pathsep.join([str(home / "bin"), *self._programs(), *_SYSTEM]),
            "VIRTUAL_ENV": str(home),
            "HOME": str(work),
            "TMPDIR": str(specs.temporary(self._folder)),
            "CLOUDSDK_CONFIG": str(work / ".gcloud"),
            "PYTHONUNBUFFERED": "1",
            "CUDA_VISIBLE_DEVICES": "",  # images have no code for this machine's GPUs
            "NO_PROXY": "127.0.0.0/8,localhost",
            "no_proxy": "127.0.0.0/8,localhost",
            "GCE_METADATA_HOST": metadata,
            "GCE_METADATA_IP": metadata,
            "GCE_METADATA_ROOT": metadata,  # read by Google's C++ client
            **environment.CLIENT_SETTINGS,
        }
        for name, value in self._spec.user_variables.items():
            known[name] = environment.expanded(value, known | dict(self._spec.variables))
        return known | dict(self._spec.variables)

    def _programs(self) -> list[str]:
        return [str(nvidia_smi.place(self._folder))] if self._spec.accelerators else []

    def _reader(self, stream: IO[bytes] | None, severity: str) -> threading.Thread:
        assert stream is not None

        def read() -> None:
            with stream, contextlib.suppress(ValueError):
                for line in logfile.lines(stream):
                    self._log.user(line.decode(errors="replace"), severity)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread

    def _tool(self, command: Sequence[str]) -> None:
        self._look()
        if not command:
            return
        with subprocess.Popen(
            command,
            env={**os.environ, "TMPDIR": str(specs.temporary(self._folder))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        ) as child:
            while True:
                try:
                    said, _ = child.communicate(timeout=_TOOL_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    try:
                        self._look()
                    except StopError:
                        _signal_group(child.pid, signal.SIGKILL)
                        raise
        if child.returncode:
            text = said.decode(errors="replace").strip()
            name = " ".join((Path(command[0]).name, *command[1:3]))
            raise UnreadyError(f"{name} failed with status {child.returncode}: {text[-2000:]}")

    def _look(self) -> None:
        """Raise StopError once the replica is to end."""
        if not self._events.empty() or (self._folder / specs.STOP).exists():
            raise StopError

    def _on_term(self, number: int, frame: FrameType | None) -> None:
        self._events.put("stop")

    def _exit(self, phase: Phase, code: int = 0, message: str = "") -> None:
        specs.remove_temporary(self._folder)
        over = timestamp(self._over or datetime.now(UTC))
        files.write_json(self._folder / specs.EXIT, {"phase": phase, "code": code, "message": message, "time": over})


def main(path: Path) -> None:
    """Run the replica of a specification, unless it was run, or is being run, already."""
    folder = path.parent
    with contextlib.suppress(files.BusyError), files.locked(folder / specs.LOCK, _LOCK_WAIT_S):
        if (folder / specs.EXIT).exists() or (folder / specs.CLAIM).exists():
            return
        own = os.getpid()
        files.write_json(folder / specs.CLAIM, {"pid": own, "born": processes.birth(own)})
        processes.adopt_orphans()
        _lift_limits()
        Runner(folder, specs.read(path)).run()
    # Measuring a full cache takes a while: no job is to wait for it, and whoever stops the cloud may end it at once.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    upkeep.trim(cache.common(os.environ).parent, time.time())


def _lift_limits() -> None:
    """Lift the limits on the cloud's own files, which do not hold for the job's."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _reap(child: int, ended: threading.Event) -> None:
    while not ended.wait(_REAP_S):
        processes.reap_orphans(child)


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _uv() -> str | None:
    try:
        import uv
    except ImportError:
        import shutil

        return shutil.which("uv")
    return str(uv.find_uv_bin())


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
