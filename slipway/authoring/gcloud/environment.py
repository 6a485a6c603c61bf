"""The environment of a job file's worker pools as a template has it: variables of all, of each, and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from slipway.authoring.gcloud.fields import field_of, items
from slipway.authoring.gcloud.output import Note, OutputReader
from slipway.authoring.stack.secrets import looks_secret
from slipway.authoring.stack.yaml_file import DocumentPart
from slipway.model.labels import RECORDS
from slipway.model.rules.code import ENV_NAME, value_problem

CODES = ("containerSpec", "pythonPackageSpec")
_SUFFIX = "__SECRET"
_REFERENCE = re.compile(r"projects/[^/\s]+/secrets/[A-Za-z0-9_-]{1,255}/versions/(latest|[1-9][0-9]*)")
Json = Mapping[str, Any]


_Variables = Mapping[str, tuple[DocumentPart, str]]


class Environment(NamedTuple):
    """The variables of all of a template's worker pools, those of each where these differ, and the secrets."""

    shared: Mapping[str, str]
    own: tuple[Mapping[str, str], ...]
    secrets: Mapping[str, str]


def environment(pools: Sequence[tuple[DocumentPart, Json]], output: OutputReader) -> Environment:
    """Read the environments of used worker pools; mistakes are findings."""
    by_pool = [_variables(part, pool, output.notes) for part, pool in pools]
    secrets = _references(by_pool)
    image = any("containerSpec" in pool for _, pool in pools)
    for name, part in _plain_secrets(by_pool):
        secret = secrets[name] = name.lower().replace("_", "-")
        made = f"`secrets` names {secret}, to be made by `gcloud secrets create {secret} --data-file=-`"
        reads = f"; the code of an image finds its reference in {name}{_SUFFIX}" if image else ""
        more = "" if all(name in variables for variables in by_pool) else "; every worker pool gets it"
        output.notes.append(Note(part, f"{name}: looks like a secret, and was not copied: {made}{reads}{more}"))
    own = tuple(
        {
            name: output.text(part, name, value)
            for name, (part, value) in variables.items()
            if name not in secrets and name.removesuffix(_SUFFIX) not in secrets
        }
        for variables in by_pool
    )
    same = all(list(variables.items()) == list(own[0].items()) for variables in own)
    if same:
        return Environment(shared=own[0], own=tuple({} for _ in own), secrets=secrets)
    return Environment(shared={}, own=own, secrets=secrets)


def _variables(part: DocumentPart, pool: Json, notes: list[Note]) -> _Variables:
    """Return the variables of a worker pool by name, without Slipway's own and empty ones."""
    key = next((key for key in CODES if key in pool), CODES[0])
    variables: dict[str, tuple[DocumentPart, str]] = {}
    entries = zip(items(field_of(part, key, "env")), pool.get(key, {}).get("env", ()), strict=True)
    for entry, given in entries:
        name, value = given.get("name", ""), given.get("value", "")
        if not ENV_NAME.fullmatch(name):
            entry.wrong(f"{name!r} is not a variable's name", "letters, digits and _, a digit not first")
        elif name in variables:
            entry.wrong(f"{name} is set twice", "keep one of them")
        elif problem := value_problem(name, value):
            field_of(entry, "value").wrong(*problem)
        elif name in RECORDS or not value:
            why = "each job has its own" if name in RECORDS else "its value is empty"
            notes.append(Note(entry, f"{name}: left out, as {why}"))
        else:
            variables[name] = entry, value
    return variables


def _references(by_pool: Sequence[_Variables]) -> dict[str, str]:
    """Return the secrets that all worker pools refer to, as templates do."""
    found: dict[str, str] = {}
    for key, (_, reference) in by_pool[0].items():
        name = key.removesuffix(_SUFFIX)
        if name in ("", key) or not _REFERENCE.fullmatch(reference):
            continue
        alike = all(key in variables and variables[key][1] == reference for variables in by_pool)
        others = [(other, value) for variables in by_pool for other, (_, value) in variables.items()]
        if alike and not any(other == name or f"$({key})" in value for other, value in others):
            found[name] = reference
    return found


def _plain_secrets(by_pool: Sequence[_Variables]) -> Iterator[tuple[str, DocumentPart]]:
    """Yield the variables that look like secrets, each once."""
    first: dict[str, DocumentPart] = {}
    for name, (part, value) in [variable for variables in by_pool for variable in variables.items()]:
        if any(looks_secret(line, name) for line in value.splitlines()):
            first.setdefault(name, part)
    for name, part in first.items():
        if name.endswith(_SUFFIX):
            part.wrong(f"{name} has a secret in plain text", "its reference: projects/…/secrets/…/versions/latest")
        elif any(f"{name}{_SUFFIX}" in variables for variables in by_pool):
            part.wrong(f"{name} looks like a secret, and {name}{_SUFFIX} is set as well", f"leave {name} out")
        elif len({variables[name][1] for variables in by_pool if name in variables}) > 1:
            what = f"{name} looks like a secret, and has another value in another worker pool"
            part.wrong(what, "names that differ, as a template has one secret for each")
        else:
            yield name, part
