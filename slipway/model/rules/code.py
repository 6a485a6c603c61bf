"""Rules of each worker pool's code: a container or a package, its arguments and environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.model.labels import VARIABLE
from slipway.model.rules.rule import Rule, Subject, Worker, each_worker, mapping, twice

MOST_PACKAGES = 100
MOST_ENV = 100
MOST_ARGUMENTS = 100_000
ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_APOSTROPHE = re.compile(r"(?<!\\)'")
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
SCRIPT = "slipway_script"
"""The module that runs a command in a folder of any files: such a folder need not be an import package."""
PREBUILT = re.compile(r"((us|europe|asia)-docker\.pkg\.dev/vertex-ai|gcr\.io/cloud-aiplatform)/\S+")
IMAGE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?[a-z0-9]+(([._-]+|/)[a-z0-9]+)*(:\w[\w.-]{0,127})?"
    r"(?P<digest>@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
"""The form of an image's name."""
_OF_ARTIFACT_REGISTRY = re.compile(r"[a-z0-9-]+-docker\.pkg\.dev/.+")
_OF_CONTAINER_REGISTRY = re.compile(r"([a-z]+\.)?gcr\.io/.+")


def digest_command(image: str) -> str:
    """Return the command that prints the digest of an image of any registry."""
    if _OF_ARTIFACT_REGISTRY.fullmatch(image):
        return f"gcloud artifacts docker images describe {image}"
    if _OF_CONTAINER_REGISTRY.fullmatch(image):
        return f"gcloud container images describe {image}"
    return f"docker buildx imagetools inspect {image}"


@each_worker
def _one_of_two(worker: Worker) -> Iterator[str]:
    kinds = [kind for kind in ("containerSpec", "pythonPackageSpec") if worker.body.get(kind)]
    if len(kinds) != 1:
        yield f"{' and '.join(kinds) or 'no code'}: give one of containerSpec, pythonPackageSpec"
    container = mapping(worker.body.get("containerSpec"))
    if container and not container.get("imageUri"):
        yield "containerSpec.imageUri is missing"


@each_worker
def _package(worker: Worker) -> Iterator[str]:
    package = mapping(worker.body.get("pythonPackageSpec"))
    if not package:
        return
    image, module = str(package.get("executorImageUri", "")), package.get("pythonModule")
    if not PREBUILT.fullmatch(image):
        yield (
            f"executor image {image!r} is not one of Vertex AI's prebuilt ones "
            "(us-docker.pkg.dev/vertex-ai/training/…); run your own as a container: code=Image(…)"
        )
    uris = package.get("packageUris") or []
    if not 1 <= len(uris) <= MOST_PACKAGES:
        yield f"{len(uris)} package URIs: give 1 to {MOST_PACKAGES}"
    for uri in uris:
        if not str(uri).startswith(("gs://", "${")):
            yield f"package {uri!r} is not in Cloud Storage (gs://…)"
    if not MODULE.fullmatch(str(module or "")):
        yield f"pythonModule {module!r} is not a module's name"


def value_problem(name: str, value: str) -> tuple[str, str] | None:
    """Return what is wrong with an environment variable's value, and what to do; None for nothing. An apostrophe is
    refused by the service with these words: Env vars cannot contain any unescaped apostrophe character."""
    if "\0" in value:
        return f"environment variable {name} has a NUL in its value, which no process can have", "leave it out"
    if not _APOSTROPHE.search(value):
        return None
    what = f"environment variable {name} has an apostrophe in its value, which Vertex AI refuses"
    return what, "leave the apostrophe out, or hand the text over as an argument"


@each_worker
def _env(worker: Worker) -> Iterator[str]:
    variables = [mapping(variable) for variable in worker.code.get("env") or ()]
    names = [str(variable.get("name", "")) for variable in variables]
    if len(names) > MOST_ENV:
        ours = f", {VARIABLE} among them" if VARIABLE in names else ""
        yield f"{len(names)} environment variables{ours}; at most {MOST_ENV}"
    for name, variable in zip(names, variables, strict=True):
        if not ENV_NAME.fullmatch(name):
            yield f"environment variable {name!r} is not a C identifier (letters, digits, _)"
        if problem := value_problem(name, str(variable.get("value", ""))):
            yield "; ".join(problem)
    for name in twice(names):
        yield f"environment variable {name} is set twice"


def _arguments(subject: Subject) -> Iterator[str]:
    total = sum(len(str(argument)) for worker in subject.workers for argument in worker.code.get("args") or ())
    if total > MOST_ARGUMENTS:
        yield f"the arguments have {total:,} characters; at most {MOST_ARGUMENTS:,} together: put them in a file"


RULES = (
    Rule("code-one", "Each worker pool runs either a container's image or a Python package.", "3.2", _one_of_two),
    Rule("package", "A package names a prebuilt executor, 1 to 100 gs:// URIs, and a module.", "3.2", _package),
    Rule("env", "At most 100 variables: C identifiers, each set once; no value has an apostrophe.", "3.2", _env),
    Rule("arguments", "All arguments together have at most 100,000 characters.", "3.2", _arguments),
)
