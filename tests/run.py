"""Run the tests of this repository: `make test`, `make test-all` and `make test-long` call this module.

The variable `PYTEST_ARGS` has more arguments of pytest.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.shipped import tests_of_what_is_gone

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"


@dataclass(frozen=True)
class Tier:
    """A selection of tests by markers (docs/testing.md). `{slow}` stands for the project's markers of slow tests."""

    markers: str
    #: The settings of property tests (tests/conftest.py), the usual ones if empty.
    profile: str = ""
    #: Formatting, linting and types are checked as well.
    checked: bool = True


TIERS = {
    "smoke": Tier("smoke or not ({slow})", "few"),
    "all": Tier("not long"),
    "long": Tier("long or hypothesis", "thorough", checked=False),
}


@dataclass(frozen=True)
class Project:
    """A Python project with tests of its own."""

    name: str
    folder: Path
    #: The markers of tests that are too slow for `make test`.
    slow: str


SLIPWAY = Project("slipway", ROOT, "journey or cloud or corpus or long")
VERTEX_LOCAL = Project("vertex-local", ROOT / "vertex-local", "journey or cloud or long")


class UsageError(Exception):
    """The arguments are wrong."""


@dataclass(frozen=True)
class Suite:
    """The tests of one project that a run plays: all of them if `files` is empty."""

    project: Project
    files: tuple[str, ...] = ()


def suites(only: str, shard: str, files: Mapping[Project, Sequence[str]]) -> list[Suite]:
    """Return the suites that `ONLY` and `SHARD` select, from each project's test files."""
    selected = [select(project, only, names) for project, names in files.items()]
    found = [suite for suite in selected if suite is not None]
    if not found:
        raise UsageError(f"no test has '{only}' in its path")
    if not shard:
        return found
    shares = [Suite(suite.project, share(suite.files or files[suite.project], shard)) for suite in found]
    if not any(suite.files for suite in shares):
        raise UsageError(f"SHARD={shard} has no tests: there are fewer files than shards")
    return [suite for suite in shares if suite.files]


def tier_of(name: str, only: str) -> Tier:
    """Return the tier of a run. A user who names files wants all their tests, journeys as well."""
    named_files = only not in ("", SLIPWAY.name, VERTEX_LOCAL.name)
    return TIERS["all"] if name == "smoke" and named_files else TIERS[name]


def select(project: Project, only: str, names: Sequence[str]) -> Suite | None:
    """Return the project's tests that `ONLY` selects, or None if it selects none."""
    if only in ("", project.name):
        return Suite(project)
    of_vertex_local = only.startswith(f"{VERTEX_LOCAL.name}/")
    if only in (SLIPWAY.name, VERTEX_LOCAL.name) or (of_vertex_local and project == SLIPWAY):
        return None
    word = only.removeprefix(f"{VERTEX_LOCAL.name}/")
    chosen = tuple(name for name in names if word in name)
    return Suite(project, chosen) if chosen else None


def share(names: Sequence[str], shard: str) -> tuple[str, ...]:
    """Return the files of a shard, `1/4` for example. Neighbours, which take similar times, go to different shards."""
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UsageError(f"SHARD={shard} is not a shard: write SHARD=1/4 for the first of four")
    return tuple(sorted(names)[int(number) - 1 :: int(count)])


def files_of(project: Project) -> list[str]:
    """Return the project's test files, without those of templates and jobs that a fork has removed."""
    found = [path.relative_to(project.folder).as_posix() for path in project.folder.glob("tests/**/test_*.py")]
    removed: list[str] = []
    if project == SLIPWAY:
        removed = [f"tests/{name}" for name in tests_of_what_is_gone()]
    return sorted(set(found) - set(removed))


def commands(chosen: Sequence[Suite], tier: Tier, workers: int, more: Sequence[str]) -> list[list[str]]:
    """Return pytest's command for each suite. The smaller project, beside the other one, has fewer workers."""
    few = (workers + 3) // 4
    return [pytest_command(suite, tier, few if number else workers, more) for number, suite in enumerate(chosen)]


def pytest_command(suite: Suite, tier: Tier, workers: int, more: Sequence[str]) -> list[str]:
    """Return the command that runs a suite. Of an option that is given twice, pytest takes the last."""
    options = ["-n", str(workers), "--dist", "worksteal", "-m", tier.markers.format(slow=suite.project.slow)]
    if tier.profile:
        options += ["--hypothesis-profile", tier.profile]
    return [str(VENV / "bin" / "python"), "-m", "pytest", *options, *more, *(suite.files or ("tests",))]


def wait(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status. Ctrl-C also interrupts the process, which then cleans up and ends by itself."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def call(command: Sequence[str], folder: Path = ROOT) -> int:
    """Run a command in the foreground. Return its exit status."""
    return wait(subprocess.Popen(command, cwd=folder))


@dataclass
class Running:
    """A command in the background. Its output is shown when it has ended."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(cls, name: str, command: Sequence[str], folder: Path) -> Running:
        log = VENV / f"{name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
        return cls(name, process, log)

    def finish(self) -> int:
        code = wait(self.process)
        print(self.name, flush=True)
        sys.stdout.buffer.write(self.log.read_bytes())
        sys.stdout.flush()
        return code


def check_types() -> int:
    """Check the types of both projects. The second one starts from the first one's cache."""
    mypy = str(VENV / "bin" / "mypy")
    code = call([mypy])
    cache = VERTEX_LOCAL.folder / ".mypy_cache"
    if not cache.exists() and (ROOT / ".mypy_cache").exists():
        # mypy replaces the files of its cache, so that hard links are safe.
        shutil.copytree(ROOT / ".mypy_cache", cache, copy_function=os.link)
    return call([mypy], VERTEX_LOCAL.folder) or code


def lint() -> int:
    ruff = str(VENV / "bin" / "ruff")
    for command in ([ruff, "format", "--check", "."], [ruff, "check", "."]):
        code = call(command)
        if code:
            return code
    return 0


def find_engine() -> None:
    """Download or build Pulumi, unless it is in the cache. If that fails, the tests that need it say why."""
    print("engine  …", flush=True)
    environ = {**os.environ, "SLIPWAY_ENGINE": ""}
    subprocess.run([sys.executable, "-m", "local.engine"], cwd=ROOT, env=environ, stdout=subprocess.DEVNULL)


def play(tier: Tier, chosen: Sequence[Suite], workers: int, more: Sequence[str]) -> int:
    """Run the suites and the checks of a tier. Return the exit status of the first one that failed."""
    background = []
    if tier.checked:
        background.append(Running.start("types", [sys.executable, "-m", "tests.run", "types"], ROOT))
    first, *others = commands(chosen, tier, workers, more)
    for suite, command in zip(chosen[1:], others, strict=True):
        background.append(Running.start(suite.project.name, command, suite.project.folder))
    codes = [call(first, chosen[0].project.folder)]
    codes += [running.finish() for running in background]
    return next((code for code in codes if code), 0)


def minutes(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s"


def report(started: float, most: float | None) -> int:
    """Print how long the run took. Return 1 if it took longer than `most` seconds."""
    seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"time    {minutes(seconds)}, {minutes(used.ru_utime + used.ru_stime)} of CPU time (user + system)")
    if most is None or seconds <= most:
        return 0
    print(
        f"error: the tests took {minutes(seconds)}, but the limit is {minutes(most)}\n"
        "  fix: make the slowest tests faster (PYTEST_ARGS=--durations=40), or leave them to `make test-all`"
    )
    return 1


def arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the tests of this repository.")
    parser.add_argument("tier", choices=(*TIERS, "lint", "types"))
    parser.add_argument("--only", default="", help="a project, or a folder, file or word in the paths of tests")
    parser.add_argument("--shard", default="", help="a part of the files, 1/4 for example")
    parser.add_argument("--workers", type=int, default=min(12, 2 * (os.cpu_count() or 2)))
    parser.add_argument("--at-most", type=float, help="fail if the run takes more seconds than this")
    parser.add_argument("--plan", action="store_true", help="print the commands, and run nothing")
    return parser.parse_args(given)


def pytest_arguments(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"PYTEST_ARGS={text} can't be split into arguments: {error}") from error


def run(asked: argparse.Namespace) -> int:
    started = time.monotonic()
    if asked.tier == "types":
        return check_types()
    if asked.tier == "lint":
        return lint() or check_types()
    tier = tier_of(asked.tier, asked.only)
    chosen = suites(asked.only, asked.shard, {SLIPWAY: files_of(SLIPWAY), VERTEX_LOCAL: files_of(VERTEX_LOCAL)})
    more = pytest_arguments(os.environ.pop("PYTEST_ARGS", ""))
    if asked.plan:
        print("\n".join(map(shlex.join, commands(chosen, tier, asked.workers, more))))
        return 0
    code = lint() if tier.checked else 0
    if code:
        return code
    if chosen[0].project == SLIPWAY:
        find_engine()
    code = play(tier, chosen, asked.workers, more)
    return report(started, asked.at_most) or code


def main(given: Sequence[str]) -> int:
    try:
        return run(arguments(given))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
