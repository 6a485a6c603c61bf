"""A pipeline of GitLab's, with jobs made from `.gitlab-ci.yml` as its server does, and run as a runner does; as far as
the repository's need.

Includes of the same repository with their inputs, `extends`, `parallel: matrix`, conditions of rules, artifacts of
needed jobs: https://docs.gitlab.com/ci/yaml/. The runner's tools are stand-ins.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.checkouts.kept_server import forking_python
from tests.ci import tools
from tests.ci.gitlab import Artifact, GitLab

_INPUT = re.compile(r"\$\[\[ inputs\.([a-z-]+) \]\]")
_TERM = re.compile(r'\$(\w+) (==|=~) (?:\$(\w+)|"([^"]*)"|/([^/]*)/)')
_VARIABLE = re.compile(r"\$(\w+)")
_GLOBAL = ("include", "stages", "default", "workflow", "variables")


def jobs_of(repository: Path) -> dict[str, dict[str, Any]]:
    """Return all jobs of the file, hidden ones too, with the jobs that they extend."""
    whole: dict[str, Any] = {}
    for entry in yaml.safe_load((repository / ".gitlab-ci.yml").read_text())["include"]:
        header, body = yaml.safe_load_all((repository / entry["local"].lstrip("/")).read_text())
        declared = header["spec"]["inputs"]
        assert set(entry["inputs"]) <= set(declared), "an input that is not declared is an error"
        inputs = {name: entry["inputs"].get(name, about.get("default")) for name, about in declared.items()}
        assert None not in inputs.values(), "an input without a default is required"
        for name, about in declared.items():
            assert inputs[name] in about.get("options", [inputs[name]])
            assert isinstance(inputs[name], {"array": list, "string": str}[about.get("type", "string")])
        whole |= _interpolated(body, inputs)
    return {name: _extended(whole, name) for name in whole}


def _interpolated(value: Any, inputs: Mapping[str, Any]) -> Any:
    """Return a value with its inputs: an input that is the whole value keeps its type; within a text it is text."""
    if isinstance(value, dict):
        return {_interpolated(key, inputs): _interpolated(inner, inputs) for key, inner in value.items()}
    if isinstance(value, list):
        return [_interpolated(inner, inputs) for inner in value]
    if not isinstance(value, str):
        return value
    if match := _INPUT.fullmatch(value):
        return inputs[match[1]]
    return _INPUT.sub(lambda match: str(inputs[match[1]]), value)


def _extended(whole: Mapping[str, Any], name: str) -> dict[str, Any]:
    own = dict(whole[name])
    parent = own.pop("extends", None)
    return _merged(_extended(whole, parent), own) if parent else own


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {key: _merged(under[key], over[key]) for key in under if key in over and isinstance(over[key], dict)}
    return {**under, **over, **both}


@dataclass(frozen=True)
class Job:
    """A job of a pipeline: its `name`, as `review: [dev]` where it is one of a matrix."""

    name: str
    base: str
    body: Mapping[str, Any]
    variables: dict[str, str]
    when: str

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(need if isinstance(need, str) else need["job"] for need in self.body.get("needs", ()))

    def named(self, key: str) -> str:
        """Return a text of the body with its variables."""
        value = self.body[key]
        return expanded(value["name"] if isinstance(value, dict) else value, self.variables)


def expanded(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: variables.get(match[1], ""), text)


def pipeline(repository: Path, variables: Mapping[str, str]) -> dict[str, Job]:
    """Return the jobs of a pipeline with these variables, in the order in which they run one by one."""
    jobs: dict[str, Job] = {}
    for base, body in jobs_of(repository).items():
        if base.startswith(".") or base in _GLOBAL:
            continue
        rule = next((rule for rule in body["rules"] if _holds(rule["if"], variables)), None)
        if rule is None:
            continue
        for more in _each(body):
            own = {**body.get("variables", {}), **more}
            name = f"{base}: [{', '.join(more.values())}]" if more else base
            jobs[name] = Job(name, base, body, own, rule.get("when", "on_success"))
    bases = {job.base for job in jobs.values()}
    for job in jobs.values():
        optional = {
            need["job"] for need in job.body.get("needs", ()) if isinstance(need, dict) and need.get("optional")
        }
        assert set(job.needs) - optional <= bases, f"{job.name} needs a job that the pipeline lacks"
    return jobs


def _each(body: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if "parallel" not in body:
        yield {}
        return
    (row,) = body["parallel"]["matrix"]
    ((name, values),) = row.items()
    for value in values:
        yield {name: value}


def _holds(condition: str, variables: Mapping[str, str]) -> bool:
    def term(match: re.Match[str]) -> str:
        left = variables.get(match[1])
        if match[2] == "=~":
            return str(left is not None and re.search(match[5], left) is not None)
        return str(left is not None and left == (variables.get(match[3]) if match[3] else match[4]))

    words = _TERM.sub(term, condition).replace("&&", " and ").replace("||", " or ")
    assert re.fullmatch(r"(?:True|False|and|or|[() ])+", words), f"not understood: {condition}"
    return bool(eval(words))


_PULUMI = """
import json, os, sys
words = sys.argv[1:]
with open(os.environ["ASKED"], "a") as asked:
    asked.write(" ".join([*words[:2], os.environ["PULUMI_BACKEND_URL"]]) + "\\n")
folder = os.environ["ENGINE"] + "/" + os.environ["STACK"] + "/"
if words[:2] == ["preview", "--json"]:
    assert json.load(open(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]))["type"] == "external_account"
    reviewed = open(f"stacks/Pulumi.{os.environ['STACK']}.yaml").read()
    assert open(words[words.index("--config-file") + 1]).read() == reviewed
    own = os.path.exists("CHANGE")  # a file that the merge request has, and the base branch has not
    told = open(folder + ("change" if own else "main")).read()
    print('{"preludeEvent": {"config": {"secret": "plain"}}}\\n' + told if told else "", end="")
elif words[:2] == ["stack", "output"]:
    print(json.dumps({"catalog": "gs://acme-catalog/catalog.json"}))
elif words[0] == "up":
    open(folder + "up", "w").write(json.dumps(words))
    print("up it goes")
    sys.exit(int(os.environ.get("UP", "0")))
"""
_TOOLS = {
    "pulumi": _PULUMI,
    "gcloud": """
import os, sys
assert sys.argv[1:] == ["storage", "cat", "gs://acme-catalog/catalog.json"]
assert os.environ["CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE"]
print(open(os.environ["ENGINE"] + "/catalog").read())
""",
    "jq": tools.JQ,
    "python3": """
import os, sys
if sys.argv[1:] != ["-I", "-m", "venv", ".venv"]:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
os.makedirs(".venv/bin")
for name, does in (("python", 'exec "$PYTHON" "$@"'), ("pip", 'echo "$@" >> "$ASKED"')):
    with open(f".venv/bin/{name}", "w") as tool:
        tool.write(f"#!/bin/sh\\n{does}\\n")
    os.chmod(f".venv/bin/{name}", 0o755)
""",
}
"""The image's tools: a job's calls of the engine are in a file, and each environment has this one's packages."""


@dataclass
class Runner:
    """A runner of jobs in folders of their own. `origin`: the project's repository; `engine`: the output of previews,
    by stack. `variables`: of the project's settings. `statuses`: of the jobs that ran."""

    folder: Path
    origin: Path
    gitlab: GitLab
    variables: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)

    @property
    def engine(self) -> Path:
        return self.folder / "engine"

    @property
    def asked(self) -> str:
        return (self.folder / "asked").read_text() if (self.folder / "asked").exists() else ""

    def run(self, jobs: Mapping[str, Job], job: Job, commit: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a job whose turn it is, with the artifacts of the jobs that it needs."""
        at = self._folder(job)
        shutil.rmtree(at, ignore_errors=True)
        if job.variables.get("GIT_STRATEGY") == "none":
            at.mkdir(parents=True)
        else:
            subprocess.run(["git", "clone", "-q", self.origin.as_uri(), str(at)], check=True)
            subprocess.run(["git", "-C", str(at), "checkout", "-q", "--detach", commit], check=True)
        self._bring(jobs, job, at)
        given = self.variables | job.variables | more
        tokens = {name: f"for {expanded(about['aud'], given)}" for name, about in job.body.get("id_tokens", {}).items()}
        environ = {
            "PATH": tools.put(self.folder / "bin", **_TOOLS),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PYTHON": str(forking_python() / "python"),
            "ENGINE": str(self.engine),
            "ASKED": str(self.folder / "asked"),
            "CI_REPOSITORY_URL": self.origin.as_uri(),
            **given,
            **tokens,
        }
        script = "\n".join((*job.body.get("before_script", ()), *job.body["script"]))
        done = subprocess.run(["bash", "-c", script], cwd=at, env=environ, capture_output=True, text=True)
        self.statuses[job.name] = "failed" if done.returncode else "success"
        self.gitlab.artifacts += [Artifact(file.name, file.read_text(), commit, job.base) for file in self._kept(job)]
        after = "\n".join(job.body.get("after_script", ()))
        subprocess.run(
            ["bash", "-c", after], cwd=at, env=environ | {"CI_JOB_STATUS": self.statuses[job.name]}, check=True
        )
        return done

    def play(self, jobs: Mapping[str, Job], commit: str, **more: str) -> dict[str, subprocess.CompletedProcess[str]]:
        """Run a pipeline's automatic jobs, in turn; a job that may not begin is left out."""
        ran = {}
        for job in jobs.values():
            before = [self.statuses.get(earlier.name) for earlier in jobs.values() if earlier.base in job.needs]
            if job.when == "always" or (job.when == "on_success" and all(status == "success" for status in before)):
                ran[job.name] = self.run(jobs, job, commit, **more)
        return ran

    def _folder(self, job: Job) -> Path:
        return self.folder / "jobs" / re.sub(r"\W+", "-", job.name)

    def _bring(self, jobs: Mapping[str, Job], job: Job, at: Path) -> None:
        without = {
            need["job"] for need in job.body["needs"] if isinstance(need, dict) and need.get("artifacts") is False
        }
        for earlier in jobs.values():
            if earlier.base not in job.needs or earlier.base in without or earlier.name not in self.statuses:
                continue
            for path in self._kept(earlier):
                shutil.copy(path, at)

    def _kept(self, job: Job) -> Iterator[Path]:
        """Yield the artifacts of a job that ran."""
        kept = job.body.get("artifacts", {})
        how = {"success": ("on_success", "always"), "failed": ("on_failure", "always")}[self.statuses[job.name]]
        if kept.get("when", "on_success") in how:
            for pattern in kept.get("paths", ()):
                yield from self._folder(job).glob(expanded(pattern, job.variables))


def preview(engine: Path, stack: str, *, change: object, main: object) -> None:
    """Set the output of a stack's previews, of the merge request and of the base branch."""
    (engine / stack).mkdir(parents=True, exist_ok=True)
    (engine / stack / "change").write_text(json.dumps(change))
    (engine / stack / "main").write_text(json.dumps(main))
