"""The shipped templates and stacks, as far as they exist: a fork removes some, and adds its own.

`slipway check`, previews and reviews compare a team's own with their declarations; the tests are of the shipped ones.
"""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
# A shipped template has a file of tests with its name.
_TESTED = {path.stem.removeprefix("test_") for path in (TESTS / "templates").glob("test_*.py")} - {"guide"}
_OF_TEMPLATES = ("templates", "slipway/authoring/template")


def _there(word: str) -> bool:
    return (ROOT / "templates" / f"{word}.py").is_file()


def templates() -> list[str]:
    return sorted(word.replace("_", "-") for word in filter(_there, _TESTED))


def taken_away() -> list[str]:
    return sorted(word.replace("_", "-") for word in _TESTED if not _there(word))


def stacks() -> list[str]:
    """Return the sample's stacks, known by their projects: a real deployment has another project there."""
    files = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))
    return [file.name.split(".")[1] for file in files if _of_the_sample(file.read_text(encoding="utf-8"))]


def tests_of_what_is_gone() -> list[str]:
    """Return paths below tests/."""
    gone = [f"{folder}/test_{word}.py" for word in _TESTED if not _there(word) for folder in _OF_TEMPLATES]
    gone += [f"jobs/{path.name}" for path in (TESTS / "jobs").glob("test_*.py") if not _job_of(path)]
    laptop = ROOT / "stacks" / "Pulumi.local.yaml"
    # The demo's expected output is of this job.
    demo = laptop.is_file() and "dask-digits" in laptop.read_text(encoding="utf-8")
    return gone if demo else [*gone, "end_to_end/test_demo.py", "end_to_end/test_typed_pages.py"]


def _of_the_sample(text: str) -> bool:
    return any(f"gcp:project: {project}" in text for project in ("acme-ml-", "local-project"))


def _job_of(tests: Path) -> list[Path]:
    """Return the folder of the job that a file tests: both begin with the same word."""
    return list((ROOT / "jobs").glob(f"{tests.stem.split('_')[1]}*"))
