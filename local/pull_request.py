"""`make review BASE=…`: what this checkout would do to a stack, as the comment of a pull request says it.

The program of this checkout is previewed, and what it would do is judged by the slipway of BASE (`judge`). What BASE
itself would do and nobody has deployed yet is told apart. The project may lie anywhere in the repository.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from slipway.authoring.stack.deleted_files import fix_of_deleted
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import counted
from slipway.base.standard_output import exit_after
from slipway.deploying.engine.events import STREAMING
from slipway.reviewing.change.files import seen_from

from .judge import Judge, judge_of
from .select_stack import fix_of_missing

_WORK = Path(".slipway", "review")
_STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.yaml")
_TEMPLATE = re.compile(r"templates/(\w+)\.py")
_BREAKING = str.maketrans(dict.fromkeys("\t\n\r", "?"))


@dataclass(frozen=True)
class Repository:
    """A checkout whose files, committed or not, are the change; `root` is the project's. All runs in `environment`."""

    root: Path
    environment: Mapping[str, str]

    def git(self, *arguments: str, **variables: str) -> str:
        # Names come without quotes: a file with an odd name may be the program.
        command = ("git", "-c", "core.quotepath=off", *arguments)
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env={**self.environment, **variables},
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                check=False,
            )
        except OSError as problem:
            raise ConfigError("git can't be run", why=str(problem), fix="install git, or put it on PATH") from problem
        if done.returncode:
            why = done.stderr.strip() or f"exit code {done.returncode}"
            raise ConfigError(f"git {' '.join(arguments)} failed", why=why, fix="see what git says")
        return done.stdout.strip("\n")

    @property
    def folder(self) -> str:
        """The project's folder in the repository: `ml/training`, empty at its top."""
        return self.git("rev-parse", "--show-prefix").strip("/")

    def changed(self, commit: str) -> list[tuple[str, ...]]:
        """Return the repository's files that differ from a commit: a status, then a name or, of a moved file, both."""
        words = iter(
            self.git(
                "diff", "--name-status", "--find-renames", "--no-relative", "--ignore-submodules=none", "-z", commit
            ).split("\0")[:-1]
        )
        entries = [(status, next(words), *([next(words)] if status[0] in "RC" else [])) for status in words]
        unknown = self.git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/").split("\0")[:-1]
        return [*entries, *(("A", path) for path in unknown)]

    def base(self, name: str) -> str:
        """Return the commit that this checkout and `name` have in common."""
        try:
            return self.git("merge-base", "--end-of-options", name, "HEAD")
        except ConfigError as problem:
            if self.git("rev-parse", "--is-shallow-repository") == "true":
                raise ConfigError(
                    f"this clone does not have all commits since BASE {name}",
                    why="it is shallow, as git clone --depth and actions/checkout make it",
                    fix="git fetch --unshallow; in a workflow, fetch-depth: 0 for actions/checkout",
                ) from problem
            raise ConfigError(
                f"BASE {name} is nothing that this checkout can be compared with",
                why=problem.why,
                fix="name a branch or commit that it comes from, such as BASE=main (`git fetch` gets those of others)",
            ) from problem

    def tree(self) -> str:
        """Return the tree that a commit of this checkout would have."""
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self.git("read-tree", "HEAD", **index)
            self.git("add", "--all", **index)
            return self.git("write-tree", **index)

    @contextlib.contextmanager
    def at(self, commit: str, folder: Path) -> Iterator[Path]:
        """Yield another checkout, of a commit; one that a killed run left is made anew."""
        with contextlib.suppress(ConfigError):
            self.git("worktree", "remove", "--force", "--force", str(folder))
        shutil.rmtree(folder, ignore_errors=True)
        self.git("worktree", "prune")
        self.git("worktree", "add", "--detach", "--force", str(folder), commit)
        try:
            yield folder
        finally:
            self.git("worktree", "remove", "--force", str(folder))


def preview(folder: Path, stack: str, events: Path, variables: Mapping[str, str]) -> str:
    """Write the engine's events, those of a failed preview as well. Return why there are none, empty where there are
    some. The stack file is copied, as the engine writes into the one it is given."""
    copy, declared = events.with_name(f"Pulumi.{stack}.yaml"), Path("stacks", f"Pulumi.{stack}.yaml")
    if not (folder / declared).is_file():
        raise ConfigError(
            f"there is no {declared}",
            why="each stack has a file",
            fix=fix_of_deleted(folder, stack) or "make review BASE=… STACK=NAME, a stack of stacks/",
        )
    copy.write_bytes((folder / declared).read_bytes())
    with events.open("wb") as file:
        variables = {**variables, **own_pack(folder, variables)}
        command = ("pulumi", "preview", "--json", "--stack", stack, "--config-file", str(copy), "--non-interactive")
        done = subprocess.run(
            command, cwd=folder, env={**variables, **STREAMING}, stdout=file, stderr=subprocess.PIPE, check=False
        )
    said = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
    return "" if events.stat().st_size else said


def own_pack(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which the engine starts a team's own policy pack beside its program. Slipway's own pack
    has the rules of the stack file, which bind the program anyway."""
    pack = folder / "policy" / "__main__.py"
    if not pack.is_file() or (folder / "slipway" / "authoring" / "policy" / "rules.py").is_file():
        return {}
    # The engine starts it by the first python3 on PATH, which must have the program's packages.
    path = os.pathsep.join((str(Path(sys.executable).parent), variables.get("PATH", os.defpath)))
    return {"PULUMI_OPTION_POLICY_PACK": str(pack.resolve()), "PATH": path}


def silent(stack: str, why: str) -> SlipwayError:
    fix = f"make preview STACK={stack}"
    if "no stack named" in why:
        from vertex_local.server.cloud_file import state_folder

        from .backend import file_backend

        laptop = os.environ.get("PULUMI_BACKEND_URL") == file_backend(state_folder() / "pulumi-state")
        demo = "make demo" if stack == "local" else f"make demo STACK={stack}"
        fix = f"{demo}, which deploys it" if laptop or stack == "local" else fix_of_missing(Path.cwd(), stack)
    elif "PULUMI_ACCESS_TOKEN" in why:
        fix = "add LAPTOP=1 for the local cloud, or export PULUMI_BACKEND_URL, where the state is"
    return SlipwayError(f"pulumi preview of stack {stack} said nothing", why=why, fix=fix)


def _refused(root: Path, judge: Judge, stack: str, source: Path) -> bool:
    """Return whether `slipway check` refuses the stack's file of a checkout; the review is then of its errors."""
    command = judge.command("check", str(Path("stacks", f"Pulumi.{stack}.yaml")), "--output", "json")
    done = subprocess.run(command, cwd=root, env=judge.variables, capture_output=True, text=True, check=False)
    source.write_text(done.stdout, encoding="utf-8")
    return done.returncode == ConfigError.exit_code


def judged(repository: Repository, base: str, stacks: list[str], flags: list[str]) -> int:
    """Return the exit code of `slipway review` at the base."""
    if not shutil.which("pulumi", path=repository.environment.get("PATH")):
        raise ConfigError(
            "pulumi is not on PATH", why="it makes the preview", fix="install it: https://www.pulumi.com/docs/install/"
        )
    work = repository.root / _WORK
    work.mkdir(parents=True, exist_ok=True)
    _known(repository.root, stacks)
    with _alone(work):
        return _judged(repository, base, stacks, flags, work)


@contextlib.contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Wait for another review of this checkout: both would write the same files."""
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another review of this checkout")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _judged(repository: Repository, base: str, stacks: list[str], flags: list[str], work: Path) -> int:
    commit, folder = repository.base(base), repository.folder
    files, tree, changed = work / "files", repository.tree(), repository.changed(commit)
    lines = ("\t".join(word.translate(_BREAKING) for word in row) for row in changed)
    if lacked := int(repository.git("rev-list", "--count", f"HEAD..{base}")):
        _say(f"this branch seems to undo what it lacks of {base}, {counted(lacked, 'commit')}: merge {base} first")
    # The change's program runs here and may write anywhere, so the judge is made after it.
    changes = [(stack, *_change(repository, stack, work / f"{stack}.change.jsonl")) for stack in stacks]
    with repository.at(commit, work / "base") as checkout:
        files.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
        judge = judge_of(checkout / folder, base, commit, repository.environment, _say)
        judge.lend(_virtualenv(judge.folder))
        sources: list[str] = []
        for stack, events, why in changes:
            yours, main = (work / f"{stack}.{word}.jsonl" for word in ("change", "base"))
            yours.write_bytes(events)
            sources.append(str(yours))
            if not events and not _refused(repository.root, judge, stack, yours):
                raise silent(stack, why)
            if (judge.folder / "stacks" / f"Pulumi.{stack}.yaml").is_file():
                _say(f"preview of {stack}, as {base} has it")
                if why := preview(judge.folder, stack, main, repository.environment):
                    raise silent(stack, why)
                sources += ["--main", str(main)]
        names = [seen_from(folder, path) for _, *paths in changed for path in paths]
        edited = {match[1] for name in names if (match := _STACK_FILE.fullmatch(name))}
        for other in sorted(edited - {*stacks}):
            _say(f"stacks/Pulumi.{other}.yaml differs and is not looked at: STACK={other}")
        for other, template in offering(repository.root, names):
            yours, main = (work / f"{other}.{word}.json" for word in ("change", "base"))
            if other not in stacks and _refused(repository.root, judge, other, yours):
                sources.append(str(yours))
                there = (judge.folder / "stacks" / f"Pulumi.{other}.yaml").is_file()
                if there and _refused(judge.folder, judge, other, main):
                    sources += ["--main", str(main)]
            elif other not in (*stacks, *edited):
                _say(f"template {template} differs, and stack {other}, which offers it, is only checked: STACK={other}")
        where = ("--folder", folder) if folder else ()
        which = ("--head", str(repository.root), "--tree", tree, "--base", commit)
        return subprocess.run(
            judge.command("review", *sources, "--files", str(files), *where, *which, *flags),
            cwd=judge.folder,
            env=judge.variables,
            check=False,
        ).returncode


def offering(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each stack that offers a template of these files, with the first such template."""
    templates = [match[1].replace("_", "-") for name in names if (match := _TEMPLATE.fullmatch(name))]
    for file in sorted((root / "stacks").glob("Pulumi.*.yaml")):
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
            offered = yaml.safe_load(file.read_text(encoding="utf-8"))["config"]["slipway:templates"]
            yield from [(file.name.split(".")[1], name) for name in templates if name in offered][:1]


def _change(repository: Repository, stack: str, events: Path) -> tuple[bytes, str]:
    _say(f"preview of {stack}, as this checkout has it")
    why = preview(repository.root, stack, events, repository.environment)
    return events.read_bytes(), why


_OF_TOOLCHAIN = {"uv": ".venv"}
"""The virtual environment of a project that names none."""


def _virtualenv(folder: Path) -> str:
    """Return the project's virtual environment for the engine, empty where its file names none in its folder."""
    try:
        runtime = yaml.safe_load((folder / "Pulumi.yaml").read_text(encoding="utf-8"))["runtime"]
        options = runtime["options"]
        environment = str(options["virtualenv"] if "virtualenv" in options else _OF_TOOLCHAIN[options["toolchain"]])
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return ""
    place = Path(environment)
    return environment if not place.is_absolute() and ".." not in place.parts else ""


def _known(root: Path, stacks: list[str]) -> None:
    names = sorted(file.name.split(".")[1] for file in (root / "stacks").glob("Pulumi.*.yaml"))
    for stack in stacks:
        if stack not in names:
            raise ConfigError(
                f"there is no stack {stack}",
                why=f"this checkout has no file stacks/Pulumi.{stack}.yaml",
                fix=fix_of_deleted(root, stack) or f"name one of those that it has: {', '.join(names) or 'none'}",
            )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make review", description=__doc__)
    parser.add_argument("--base", required=True, help="what the change is compared with: main")
    parser.add_argument("--stack", action="append", required=True, help="as often as there are stacks")
    options, flags = parser.parse_known_args(arguments)
    try:
        return judged(Repository(Path.cwd(), os.environ), options.base, options.stack, flags)
    except SlipwayError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; nothing was changed", file=sys.stderr)
        return 130


def _say(text: str) -> None:
    print(f"review  {text} …", file=sys.stderr, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # It would leave a worktree, and the engine, behind.
    exit_after(main)
