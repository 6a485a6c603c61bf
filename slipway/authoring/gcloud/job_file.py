"""A request as gcloud takes it: a file with the job's spec, and above it the command that sends it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

import yaml

from slipway.authoring.stack.yaml_loader import TAG
from slipway.base.errors import ConfigError
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.labels import Launched

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@-]*")


def job_file(body: Mapping[str, Any], kind: JobKind, *, project: str, region: str, about: str) -> str:
    """Return YAML without a last line break of a whole request, every placeholder filled; `about` names its subject.
    Raises ConfigError for a kind that this command of gcloud does not send."""
    if not kind.gcloud:
        raise ConfigError(
            f"{CUSTOM_JOB.gcloud} sends {CUSTOM_JOB.words}s, and this is a {kind.words}",
            fix=f"slipway submit --as {CUSTOM_JOB.name} --dry-run, if the template has that kind; or no --format",
        )
    spec = kind.spec_of(body)
    tasks = [pool.get("pythonPackageSpec") or pool.get("containerSpec") for pool in spec.get("workerPoolSpecs", ())]
    once = "# It runs once: the claim in its arguments is taken by the first job that is sent with it."
    notes = [f"# {about}", *([once] if all(Launched.of(task) for task in tasks if task) else [])]
    text = yaml.dump(spec, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6)
    return "\n".join((*notes, f"# {command(body, project, region)}", text.rstrip("\n")))


def command(body: Mapping[str, Any], project: str, region: str) -> str:
    """Return the whole command line: settings outside a job's spec are its flags."""
    name, key = body["displayName"], body.get("encryptionSpec", {}).get("kmsKeyName")
    labels = ",".join(f"{label}={value}" for label, value in body.get("labels", {}).items())
    words = [*CUSTOM_JOB.gcloud.split(), f"--project={project}", f"--region={region}", f"--display-name={name}"]
    more = [f"--{flag}={value}" for flag, value in (("labels", labels), ("kms-key", key)) if value]
    return shlex.join([*words, *more, f"--config={name}.yaml"])


class _Dumper(yaml.SafeDumper):
    """A dumper that quotes text that some version of YAML could read as something else, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"{TAG}str", text, style=None if _PLAIN.fullmatch(text) else '"')


_Dumper.add_representer(str, _quoted)
