"""A machine of the test's own: its PATH, its cache, a `pulumi` and a `go` with prepared behaviour, and a release
server."""

import hashlib
import io
import os
import platform
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from local.engine.edited_module import WORDS_WHEN_ASKED
from local.engine.release import archive_name
from local.engine.version import PINNED
from tests.loopback import Handler, served

CHECKOUT = Path(__file__).resolve().parents[3]

PULUMI = "#!/bin/sh\necho v{version}\n"

# A stand-in for the Go toolchain: a real process with Go's command line, that makes a `pulumi` that starts. It pauses
# in `build` while the file FAKE_GO_HOLD exists: chatting, or silently when FAKE_GO_SILENT is set.
GO = f"""#!{sys.executable}
import os, pathlib, signal, sys, time
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
args = sys.argv[1:]
if args[0] == "env":
    print(os.environ.get("FAKE_GO_VERSION", "go1.26.8"))
    print(os.environ.get("FAKE_GO_TOOLCHAIN", "auto"))
elif args[:3] == ["list", "-mod=readonly", "-m"]:
    print(os.environ["FAKE_GO_SDK"] if args[-1].endswith("/sdk/v3") else os.environ["FAKE_GO_EDITED"])
elif args[0] == "list":
    print("go: downloading example.com/a v1.0.0", file=sys.stderr)
    print("fmt\\nos\\nexample.com/a")
else:
    with open(os.environ["FAKE_GO_LOG"], "a") as log:
        log.write(f"{{os.getpid()}} {{args[-1]}}\\n")
    target = pathlib.Path(args[args.index("-o") + 1])
    target.write_text("half")
    hold = os.environ.get("FAKE_GO_HOLD")
    while hold and os.path.exists(hold):
        if not os.environ.get("FAKE_GO_SILENT"):
            print("example.com/a", flush=True)
        time.sleep(0.02)
    if os.environ.get("FAKE_GO_FAIL"):
        sys.exit(os.environ["FAKE_GO_FAIL"])
    target.write_text("#!/bin/sh\\necho " + os.environ.get("FAKE_GO_MAKES", "v{PINNED}") + "\\n")
    target.chmod(0o755)
"""


@dataclass(frozen=True)
class Machine:
    """A machine. `bin` is the whole PATH, `cache` the folder of SLIPWAY_CACHE, `environ` the variables of the tested
    code."""

    bin: Path
    cache: Path
    environ: dict[str, str]

    def add(self, name: str, script: str, folder: Path | None = None) -> Path:
        place = (folder or self.bin) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(script)
        place.chmod(0o755)
        return place

    def install_pulumi(self, version: str, host: bool = True) -> None:
        self.add("pulumi", PULUMI.format(version=version))
        if host:
            self.add("pulumi-language-python", "#!/bin/sh\n")

    def install_go(self, **told: str) -> None:
        self.add("go", GO)
        sdk = self.bin.parent / "sdk"
        self.add("pulumi-language-python-exec", "#!/usr/bin/env python\n", sdk / "python" / "cmd")
        edited = self.bin.parent / "edited"
        for edit in WORDS_WHEN_ASKED[0].edits:
            (edited / edit.file).parent.mkdir(parents=True, exist_ok=True)
            with (edited / edit.file).open("a") as file:
                file.write(edit.old)
        log = {"FAKE_GO_SDK": str(sdk), "FAKE_GO_EDITED": str(edited), "FAKE_GO_LOG": str(self.log)}
        self.environ.update(log | {f"FAKE_GO_{key.upper()}": value for key, value in told.items()})

    @property
    def log(self) -> Path:
        return self.bin.parent / "go.log"

    def builds(self) -> list[str]:
        """Return the packages that Go was asked to build, in order."""
        return [line.split()[1] for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def partials(self) -> list[Path]:
        return list(self.cache.glob("engine/*/.partial-*"))

    def finished(self) -> list[str]:
        return sorted(path.parent.name for path in self.cache.glob("engine/*/*/complete.json"))

    def start(self) -> subprocess.Popen[str]:
        """Start `python -m local.engine` on this machine."""
        return subprocess.Popen(
            [sys.executable, "-m", "local.engine"],
            cwd=CHECKOUT,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    folder = tmp_path / "bin"
    folder.mkdir()
    cache = tmp_path / "cache"
    environ = {"PATH": str(folder), "SLIPWAY_CACHE": str(cache), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    return Machine(folder, cache, environ)


@dataclass
class Vendor:
    """A server of releases on loopback: `files` by name; `silent` accepts and never answers; `asked` in order."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    silent: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def publish(self, programs: dict[str, str], digest: str | None = None) -> str:
        """Release `programs` for this machine and return the archive's name."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name, script in programs.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(script.encode())
                archive.addfile(entry, io.BytesIO(script.encode()))
        name = archive_name(PINNED, platform.system(), platform.machine())
        self.files[name] = packed.getvalue()
        sha256 = digest or hashlib.sha256(packed.getvalue()).hexdigest()
        self.files[f"pulumi-{PINNED}-checksums.txt"] = f"{'0' * 64}  other.tar.gz\n{sha256}  {name}\n".encode()
        return name


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    vendor = Vendor()
    over = threading.Event()

    class Releases(Handler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            vendor.asked.append(name)
            if vendor.silent.is_set():
                over.wait(30)
                return
            body = vendor.files.get(name, b"")
            self.send_response(200 if name in vendor.files else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2 if name in vendor.cut else None])

    with served(Releases) as vendor.url:
        yield vendor
        over.set()


@pytest.fixture
def nowhere() -> Iterator[str]:
    """Yield an address of loopback on which nothing answers: the port is held, so that no other test gets it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """Return a function that waits for a condition, for as long as a slow machine may need."""
    pause = threading.Event()

    def wait(condition: Callable[[], object]) -> None:
        for _ in range(3000):
            if condition():
                return
            pause.wait(0.02)
        raise AssertionError("it never came")

    return wait


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
