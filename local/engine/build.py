"""The engine and its Python language host, built from the pinned modules in `go/` through Go's module proxy."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import gotool
from .edited_module import WORDS_WHEN_ASKED, EditedModule, mod_file
from .errors import EngineError
from .find import ENGINE, LANGUAGE_HOST
from .host import SCRIPT
from .progress import SEPARATOR
from .version import PINNED

SOURCES = Path(__file__).parent / "go"
_SDK = "github.com/pulumi/pulumi/sdk/v3"
_EXEC = "pulumi-language-python-exec"


@dataclass(frozen=True)
class Program:
    """A program to build: its Go `package`, the `module` folder below `go/` that pins it, the `version` it says, the
    modules `edited` for it."""

    name: str
    title: str
    module: str
    package: str
    version: str
    edited: tuple[EditedModule, ...] = ()


# The module proxy does not have the language host's own module; 3.78.0 is the last SDK that still contains it. It
# serves today's SDK and engine, with the newer SDK's `-exec` script beside it.
PROGRAMS = (
    Program(LANGUAGE_HOST, "the Python language host", "language", f"{_SDK}/python/cmd/{LANGUAGE_HOST}", "v3.78.0"),
    Program(
        ENGINE,
        "the Pulumi engine",
        "engine",
        "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        f"v{PINNED}",
        WORDS_WHEN_ASKED,
    ),
)


def flags(program: Program) -> tuple[str, ...]:
    """Return the flags of `go build`: pinned modules, small, without this machine's paths, the version stamped in. What
    a debugger needs is not compiled, as `-s -w` would strip it."""
    stamp = f"-s -w -X {_SDK}/go/common/version.Version={program.version}"
    return ("-mod=readonly", "-buildvcs=false", "-trimpath", "-gcflags=all=-dwarf=false", f"-ldflags={stamp}")


def recipe() -> str:
    """Return 12 hex digits of all that the build depends on: modules, edits, flags, kind of machine, the script."""
    digest = hashlib.sha256(f"{platform.system()} {platform.machine()}".encode())
    digest.update(SCRIPT.read_bytes())
    for program in PROGRAMS:
        digest.update("\0".join((program.name, program.package, *flags(program))).encode())
        digest.update(repr(program.edited).encode())
        for name in ("go.mod", "go.sum", "tools.go"):
            digest.update((SOURCES / program.module / name).read_bytes())
    return digest.hexdigest()[:12]


def build(into: Path, progress: Callable[[str], None], environ: Mapping[str, str], lock: int) -> None:
    """Fill the empty folder `into` with engine, language host and its script. `lock` as in `gotool.Go.run`.

    Raises EngineError when Go is missing or too old, its module proxy can't be reached, or the disk is full, and
    OSError when `into` can't be written.
    """
    work = into / ".work"
    work.mkdir()
    # Go's scratch files, hundreds of MB, go where the next run finds and removes them when this one is killed.
    go = gotool.find({**environ, "GOTMPDIR": str(work)}, _needed_go())
    for program in PROGRAMS:
        _build(go, program, into, work, progress, lock)
    sdk = go.ask(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", _SDK], SOURCES / "engine")
    shutil.copyfile(Path(sdk) / "python" / "cmd" / _EXEC, into / _EXEC)
    (into / _EXEC).chmod(0o755)
    shutil.rmtree(work)


def build_program(
    program: Program, into: Path, progress: Callable[[str], None], environ: Mapping[str, str], lock: int
) -> None:
    """Build one more program into the empty folder `into`; the rest as in `build`."""
    work = into / ".work"
    work.mkdir()
    _build(gotool.find({**environ, "GOTMPDIR": str(work)}, _needed_go()), program, into, work, progress, lock)
    shutil.rmtree(work)


def _build(go: gotool.Go, program: Program, into: Path, work: Path, progress: Callable[[str], None], lock: int) -> None:
    folder = SOURCES / program.module
    fetching, compiling = f"fetching the modules of {program.title}", f"building {program.title} {program.version}"
    listing = ("list", "-mod=readonly", "-deps", program.package)
    total = go.run(listing, folder, lock, lambda count: progress(f"{fetching}{SEPARATOR}{count}"))
    target = into / program.name
    modules = (f"-modfile={mod_file(go, program.edited, folder, work)}",) if program.edited else ()
    building = ("build", "-v", *flags(program), *modules, "-o", str(target), program.package)
    go.run(building, folder, lock, lambda count: progress(f"{compiling}{SEPARATOR}{count} of about {total} packages"))
    if not target.is_file():
        raise EngineError(
            f"{program.title} can't be built from source",
            f"go build said it was done and left no {target.name}",
            "unset GOFLAGS and run again, or install Pulumi itself",
        )


def _needed_go() -> str:
    match = re.search(r"^go (\S+)$", (SOURCES / "engine" / "go.mod").read_text(), re.MULTILINE)
    return match[1] if match else "1.25"
