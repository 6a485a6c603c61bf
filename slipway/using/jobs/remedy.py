"""What helps after a failure, by the lines that its code wrote and by its exit code. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slipway.authoring.packages.slipway_start import MEANINGS, missing
from slipway.model.machines.image_modules import package_of

MORE_MEMORY = "let it hold less at once, such as a smaller batch, or take a machine with more memory"
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
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
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


def remedy(lines: Sequence[str], error: str = "") -> str:
    """Return what helps after a failure; empty if the lines tell it, or nothing is known."""
    text = "\n".join(lines)
    if is_gpu_memory(lines):
        return MORE_GPU_MEMORY
    if _MEMORY.search(text):
        return MORE_MEMORY
    if _SHARED.search(text):
        return _LESS_SHARED
    if found := _NO_MODULE.search(text):
        return _for_module(found[1].partition(".")[0])
    if found := _NO_PROGRAM.search(text):
        return missing([found[1].rpartition("/")[2]])[1]
    status = _STATUS.search(error)
    return _BY_CODE.get(int(status[1]), "") if status else ""


def _for_module(module: str) -> str:
    listed = f"list {package_of(module)} in requirements.txt, or in the project's dependencies"
    return f"{listed}, or take a machine whose image has {module}; a module of your own must be in the folder"
