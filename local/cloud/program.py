"""The command that people type, and the processes that this package starts of its own modules."""

from pathlib import Path

_PACKAGE = __name__.rpartition(".")[0]
_TOP = _PACKAGE.removesuffix(".cloud")
_INSTALLED = "." in _TOP
COMMAND = f".venv/bin/python -P -m {_TOP}" if _INSTALLED else f"python -m {_TOP}"
"""The command to type, with -P, as a person's folder may have the name of one of ours."""
IMPORTED_FROM = Path(__file__).resolve().parents[_PACKAGE.count(".") + 1]
"""The folder that must be on the path of a process that runs one of these modules: a checkout, or site-packages."""


def module_command(python: Path | str, module: str) -> list[str]:
    """Return the command that runs a module of this package, wherever it is run and whatever lies there."""
    return [str(python), "-P", "-m", f"{_PACKAGE}.{module}"]


def module_path() -> dict[str, str]:
    """Return the environment variables of that command: the path in a checkout, which may not be installed."""
    return {} if _INSTALLED else {"PYTHONPATH": str(IMPORTED_FROM)}
