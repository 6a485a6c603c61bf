"""The start of a command: where Python finds the folder's modules, why a command can't start, and what its exit code
means."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import shutil
import signal
from pathlib import Path
from typing import Mapping, Sequence  # noqa: UP035 (Python 3.8)

PYTHON_PATH, OWN_PATH = "PYTHONPATH", "SLIPWAY_PATH"
"""The variables of the folders in which Python looks for modules: before its own ones, and before packages alone."""
HOOK = '''
"""Adds the folders of $SLIPWAY_PATH to Python's search path: behind the standard library, whose modules no file of the
folder can hide when Python starts, and before the packages of the image."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]
library = os.path.dirname(os.__file__)
places = [at for at, place in enumerate(sys.path) if place == library or os.path.basename(place) == "lib-dynload"]
own = [place for place in os.environ.get("SLIPWAY_PATH", "").split(os.pathsep) if place and place not in sys.path]
first = places[-1] + 1 if places else len(sys.path)
sys.path[first:first] = own
this = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # the image's own
except ImportError as problem:
    if problem.name != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", this)
'''
"""The module sitecustomize, which every Python imports as it starts."""
PACKAGES = {
    "accelerate": "accelerate",
    "axolotl": "axolotl",
    "composer": "mosaicml",
    "dask": "dask",
    "deepspeed": "deepspeed",
    "fabric": "lightning",
    "hf": "huggingface_hub",
    "horovodrun": "horovod",
    "huggingface-cli": "huggingface_hub",
    "ipython": "ipython",
    "jupyter": "jupyter",
    "lightning": "lightning",
    "llamafactory-cli": "llamafactory",
    "mlflow": "mlflow",
    "papermill": "papermill",
    "pytest": "pytest",
    "ray": "ray",
    "streamlit": "streamlit",
    "tensorboard": "tensorboard",
    "torchrun": "torch",
    "vllm": "vllm",
    "wandb": "wandb",
}
"""The packages that bring programs."""
RUNNERS = ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "conda", "mamba", "micromamba")
"""Programs that run a command in an environment of their own, as PROGRAM run COMMAND."""
_IN_CONTAINER = "run the command itself: the job is a container already"
_ON_MACHINES = "run the command itself, with --replicas N for several machines"
OF_OTHERS = {
    **dict.fromkeys(("apptainer", "docker", "podman", "singularity"), _IN_CONTAINER),
    **dict.fromkeys(("bsub", "qsub", "salloc", "sbatch", "srun"), _ON_MACHINES),
}
"""Programs of other ways to run a job, and what is done instead."""
OF_GPUS = ("nvidia-smi", "nvcc")
OF_CONDA = ("conda", "mamba", "micromamba")
OF_ENVIRONMENTS = ("-n", "--name", "-p", "--prefix")
"""The flags of conda that name an environment."""
OF_SHELLS = ("cd", "source", ".", "export", "set", "ulimit", "alias", "unset", "eval", "exec", "trap", "umask")
NO_SHELL = "no shell reads the command, whose first word is a program"
IN_SHELL = "with a shell it is sh -c '…', and with variables env NAME=VALUE …"
MEANINGS = {
    126: "a file can't be executed",
    127: "a program was not found",
    134: "SIGABRT: the program aborted itself",
    135: "SIGBUS: most likely out of shared memory",
    136: "SIGFPE: an arithmetic error in native code",
    137: "SIGKILL: often out of memory",
    139: "SIGSEGV: invalid memory access in native code",
}


def searched(folders: Sequence[str], place: Path, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The variables with which Python finds modules in folders. The hook is written into `place`."""
    hook = place / "python"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(HOOK.lstrip(), encoding="utf-8")
    known = environ.get(PYTHON_PATH)
    return {
        PYTHON_PATH: os.pathsep.join([str(hook), known] if known else [str(hook)]),
        OWN_PATH: os.pathsep.join(folders),
    }


def meaning(code: int) -> str:
    """Return the meaning of an exit code, in brackets; empty for one that the code chose itself."""
    if code in MEANINGS:
        return f" ({MEANINGS[code]})"
    with contextlib.suppress(ValueError):
        return f" ({signal.Signals(code - 128).name})" if code > 128 else ""
    return ""


def problem(
    words: Sequence[str], environ: Mapping[str, str], folder: Path | None, error: OSError
) -> tuple[str, str, str]:
    """Return the error of a command's start, its reason and its fix."""
    program = words[0]
    what = f"can't run {program!r}"
    file = found(program, environ, folder)
    if file is None:
        return (what, *missing(words))
    begins = first_line(file)
    if error.errno == errno.ENOEXEC or (error.errno == errno.ENOENT and not begins.startswith(b"#!")):
        return (
            what,
            f"{file.name} does not begin with #!, which names its interpreter",
            f"{by(file)} {shlex.quote(program)}",
        )
    if error.errno == errno.ENOENT and begins.endswith(b"\r"):
        return what, "its line ends are those of Windows", f"sed -i 's/\\r$//' {shlex.quote(program)}"
    if error.errno == errno.ENOENT:
        interpreter = begins[2:].decode("utf-8", "replace").strip()
        why = f"its first line names the interpreter {interpreter}, which this machine does not have"
        return what, why, f"{by(file)} {shlex.quote(program)}, or name another interpreter there"
    if error.errno == errno.EACCES:
        why = "it is a folder" if file.is_dir() else f"{file.name} is not executable"
        return what, why, "name a program" if file.is_dir() else f"{by(file)} {shlex.quote(program)}, or chmod +x it"
    if error.errno == errno.E2BIG:
        return (
            what,
            "its arguments and variables are too long for this machine",
            "put long values into a file of the folder",
        )
    return what, str(error), "correct the command"


def found(program: str, environ: Mapping[str, str], folder: Path | None) -> Path | None:
    """The file that a command's first word names; None if there is none."""
    if "/" in program:
        path = Path(folder or Path.cwd(), program)
        return path if path.exists() else None
    known = shutil.which(program, os.F_OK, path=environ.get("PATH", os.defpath))
    return Path(known) if known else None


def first_line(file: Path) -> bytes:
    with contextlib.suppress(OSError), file.open("rb") as opened:
        return opened.readline(4096).rstrip(b"\n")
    return b""


def by(file: Path) -> str:
    """The program that runs a file of such a name."""
    return "python" if file.suffix == ".py" else "bash"


def missing(words: Sequence[str]) -> tuple[str, str]:
    """Why a program that is nowhere can't be run, and what helps."""
    program = words[0]
    why = f"the image of this machine has no program {program}"
    if program in OF_SHELLS or "=" in program:
        return NO_SHELL, IN_SHELL
    if program in RUNNERS:
        return (
            why,
            f"{without_runner(words) or 'leave it out'}: the folder's packages are installed before the command starts",
        )
    if program in OF_OTHERS:
        return why, OF_OTHERS[program]
    if program in OF_GPUS:
        return why, "take a machine with a GPU: slipway run --machine TYPE"
    if program in PACKAGES:
        package = PACKAGES[program]
        return why, f"{adding(package)}; or take a machine whose image has {package}: --machine TYPE"
    if "/" in program:
        return "the job has no such file", "name a file of the folder as ./FILE, or a program of the image"
    return why, "name another program, or add a package that brings it to what the folder installs"


def adding(package: str) -> str:
    """Return how a package is added to those that a folder installs."""
    own = "in a project's dependencies, or in requirements.txt of a folder without a project"
    return f"uv add {package} in a uv project; else list {package} {own}"


def without_runner(words: Sequence[str]) -> str:
    """A command without the `uv run` at its beginning; empty if that is not its beginning."""
    rest = list(words[2:]) if words[1:2] == ["run"] else []
    valued = OF_ENVIRONMENTS if words[:1] and words[0] in OF_CONDA else ()
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in valued else rest[1:]
    if rest and rest[0].endswith(".py"):
        rest = ["python", *rest]
    return " ".join(map(shlex.quote, rest))
