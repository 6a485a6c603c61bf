"""The command that people type, and the processes that this package starts of its own modules."""

from pathlib import Path

COMMAND = "vertex-local"
IMPORTED_FROM = Path(__file__).resolve().parents[1]
"""The folder that must be on the path of a process that runs one of these modules: a checkout's, or site-packages."""


def module_command(python: Path | str, module: str) -> list[str]:
    """Return the command that runs a module of this package, wherever it is run and whatever lies there."""
    return [str(python), "-P", "-m", f"{__package__}.{module}"]


def module_path() -> dict[str, str]:
    """Return the environment variables of that command: the path in a checkout, which may not be installed."""
    return {"PYTHONPATH": str(IMPORTED_FROM)} if (IMPORTED_FROM / "pyproject.toml").is_file() else {}
