"""What helps after a failure, by the lines that its code wrote and by its exit code. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slipway.authoring.packages.slipway_start import MEANINGS, adding, missing
from slipway.model.machines.image_modules import package_of

MORE_MEMORY = "let it hold less at once, such as a smaller batch, or take a machine with more memory"
OTHER_KILLS = (
    "find what sends SIGKILL: the code itself, a parent process such as a launcher, a memory limit that the code sets, "
    "or memory that grew between two samples"
)
MORE_GPU_MEMORY = "let each GPU hold less at once, such as a smaller batch, or take GPUs with more memory"
_LESS_SHARED = (
    "use less shared memory: fewer workers of a DataLoader (num_workers), or "
    "torch.multiprocessing.set_sharing_strategy('file_system')"
)
_NATIVE = (
    "see where: --env PYTHONFAULTHANDLER=1 prints the Python lines; check the versions of packages with native code"
)
_GPU_MEMORY = re.compile(
    r"CUDA out of memory|OutOfMemoryError|RESOURCE_EXHAUSTED: Out of memory|CUBLAS_STATUS_ALLOC_FAILED"
)
_MEMORY = re.compile(r"\bMemoryError\b|Unable to allocate .* for an array|std::bad_alloc|Cannot allocate memory")
_SHARED = re.compile(r"out of shared memory|Bus error|unable to (?:write|open|mmap) .*(?:shm|torch_)", re.IGNORECASE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'(; '[\w.]+' is not a package)?")
_NOT_RUN = re.compile(r": No module named ([\w.]+)\.?(?:;|$)", re.MULTILINE)
"""The message of `python -m` for a module that it does not find."""
_NO_FILE = re.compile(r"can't open file '(?:[^']*/)?([^'/]+)'")
_RELATIVE = re.compile(r"ImportError: attempted relative import (?:with no known parent package|beyond top-level)")
_CODE_FILE = re.compile(r'File "[^"]*/code/([^"]+)\.py", line')
"""A file of the job's folder in a traceback."""
_PYTHON = re.compile(r"Package '[\w.-]+' requires a different Python: (\d+\.\d+)\S* not in '([^']+)'")
_PYTHON_OF_UV = re.compile(
    r"Python\s+version\s+\((\d+\.\d+)[^)]*\)\s+does\s+not\s+satisfy\s+Python\s*([<>=!~][^\s,]*)"
    r"\s+and\s+[\w.-]+==1\.0\+\w+\s+depends"
)
"""The text that pip and uv write about code that supports other versions of Python than the image's."""
_NO_PROGRAM = re.compile(r"(?:^|[\s:])([\w./-]+): (?:command )?not found\b")
_STATUS = re.compile(r"\bstatus of (\d+)\b")
_BY_CODE = {134: _NATIVE, 135: _LESS_SHARED, 136: _NATIVE, 139: _NATIVE}


def is_gpu_memory(lines: Sequence[str]) -> bool:
    """Return whether code found no room in a GPU's memory."""
    return any(_GPU_MEMORY.search(line) for line in lines)


def meaning(error: str) -> str:
    """Return what the exit code in the service's message means; empty for one that the code chose itself."""
    found = _STATUS.search(error)
    return MEANINGS.get(int(found[1]), "") if found else ""


def remedy(lines: Sequence[str], error: str = "", *, own_image: bool = False, has_folder: bool = True) -> str:
    """Return the fix of a failure; empty if the lines contain it, or none is known. `own_image`: the job ran in a
    template's own image; `has_folder`: it had the submitter's folder."""
    text = "\n".join(lines)
    if is_gpu_memory(lines):
        return MORE_GPU_MEMORY
    if _MEMORY.search(text):
        return MORE_MEMORY
    if _SHARED.search(text):
        return _LESS_SHARED
    if own_image and not has_folder and (lacking := _absent(text)):
        return f"no folder was given: add --code . if {lacking} is in yours, or install it in the template's image"
    return _for_python(text) or _for_import(text, own_image=own_image) or _for_program(text) or _for_status(error)


def _absent(text: str) -> str:
    """Return the module or the file that Python did not find, empty for none."""
    found = _NO_MODULE.search(text) or _NOT_RUN.search(text) or _NO_FILE.search(text)
    return found[1] if found else ""


def _for_import(text: str, *, own_image: bool) -> str:
    if _RELATIVE.search(text):
        return _for_relative(text)
    if found := _NO_MODULE.search(text):
        return _for_module(found[1].partition(".")[0], own_image=own_image)
    if found := _NOT_RUN.search(text):
        return f"correct the name {found[1]}: a module of your own must be in the folder, or in its src"
    return ""


def _for_python(text: str) -> str:
    found = _PYTHON.search(text) or _PYTHON_OF_UV.search(text)
    if not found:
        return ""
    python, versions = found.groups()
    setting = f'write requires-python = ">={python}" in pyproject.toml in place of {versions}'
    return f"{setting} if the code runs on the image's Python {python}, or use an image of your own"


def _for_program(text: str) -> str:
    found = _NO_PROGRAM.search(text)
    return missing([found[1].rpartition("/")[2]])[1] if found else ""


def _for_status(error: str) -> str:
    status = _STATUS.search(error)
    return _BY_CODE.get(int(status[1]), "") if status else ""


def _for_relative(text: str) -> str:
    files = _CODE_FILE.findall(text)
    module = files[0].removeprefix("src/").replace("/", ".") if files else ""
    if "." not in module:
        return "import it without the dots, or start the module of the package by python -m"
    return f"start it as a module of its package: slipway run python -m {module}"


def _for_module(module: str, *, own_image: bool) -> str:
    package = package_of(module)
    if own_image:
        return f"install {package} in the template's image; a module of your own must be in the folder"
    return f"{adding(package)}; or take a machine whose image has {module}; a module of your own must be in the folder"
