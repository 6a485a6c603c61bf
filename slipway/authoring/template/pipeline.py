"""A pipeline's template with what its file says: the parameters, and the machines of its tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipway.authoring.template.declaration import Parameter, file_of
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.worker_pool import TaskPool
from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.model.kinds.pipeline import Pipeline


def with_pipeline(template: JobTemplate, root: Path) -> JobTemplate:
    """Return the template with its pipeline read from the repository at `root`. Raises ConfigError."""
    file = template.pipeline
    if file is None:
        return template
    try:
        text = _read(root / file)
        pipeline = Pipeline(json.loads(text))
        pools = tuple(map(TaskPool.of, pipeline.groups))
        if not pools:
            raise ConfigError("none of its tasks runs a container", fix="name a pipeline that has such a task")
        derived = {name: _parameter(name, pipeline) for name in pipeline.parameters}
    except ConfigError as problem:
        raise ConfigError(
            f"template {template.name}: {file}: {problem.what}", why=problem.why, fix=problem.fix
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as problem:
        raise ConfigError(
            f"template {template.name}: {file}: it is not in the form of a compiled pipeline: {problem!r}",
            fix="compile the pipeline again",
        ) from problem
    declared = {parameter.name: parameter for parameter in template.parameters}
    if mistakes := list(_mistakes(declared, derived)):
        raise ConfigError(
            f"template {template.name} and {file} do not agree",
            why="\n".join(mistakes),
            fix=f"correct the parameters of templates/{file_of(template.name)}, or compile the pipeline again",
        )
    parameters = tuple(_merged(declared.get(name, parameter), parameter) for name, parameter in derived.items())
    return replace(template, pipeline=text, parameters=parameters, worker_pools=pools)


def _read(path: Path) -> str:
    """Return the first document of a file as JSON; others are for platforms that are not Vertex AI."""
    import yaml

    try:
        spec = next(yaml.safe_load_all(path.read_text(encoding="utf-8")), None)
    except OSError as problem:
        raise ConfigError("it can't be read", why=str(problem), fix="name the file that kfp compiled") from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise ConfigError("it is not YAML", why=str(problem), fix="compile the pipeline again") from None
    version = spec.get("schemaVersion", "") if isinstance(spec, dict) else ""
    if not str(version).startswith("2.1"):
        raise ConfigError(
            f"it is not a pipeline that kfp 2 compiled (schemaVersion {version or 'missing'})",
            why="Vertex AI takes typed parameters from schema 2.1 on",
            fix="kfp dsl compile --py PIPELINE.py --output PIPELINE.yaml, with kfp 2",
        )
    return json.dumps(spec, sort_keys=True, ensure_ascii=False)


def _parameter(name: str, pipeline: Pipeline) -> Parameter:
    """Return a pipeline's parameter as the template's. Raises ConfigError for a type that no template has."""
    defined, type_ = pipeline.parameters[name], pipeline.type_of(name)
    default = defined.get("defaultValue")
    if type_ in (list, dict):
        type_, default = str, None if default is None else json.dumps(default)
    if type_ and default is not None:
        given, default = default, type_(default)
        if given != default:
            raise ConfigError(
                f"parameter {name}: its default {given!r} is no {type_.__name__}", fix="correct the pipeline"
            )
    of: Any = type_ or defined.get("parameterType")  # As it stands there, for a type that no submission can give.
    usual = "as JSON" if pipeline.type_of(name) in (list, dict) else ""
    parameter = Parameter(name, of, default=default, help=str(defined.get("description") or usual))
    if problems := list(parameter.problems()):
        raise ConfigError(f"parameter {name}: {'; '.join(problems)}", fix="correct the pipeline, and compile it again")
    return parameter


def _mistakes(declared: Mapping[str, Parameter], derived: Mapping[str, Parameter]) -> Iterator[str]:
    for name, parameter in declared.items():
        if name not in derived:
            yield f"parameter {name}: the pipeline has {join(derived) or 'none'}"
        elif parameter.type is not derived[name].type:
            yield f"parameter {name} is {parameter.type.__name__}, and {derived[name].type.__name__} in the pipeline"


def _merged(declared: Parameter, derived: Parameter) -> Parameter:
    """Return the declared parameter, with the pipeline's default and help where it has none."""
    default = derived.default if declared.default is None else declared.default
    return replace(declared, default=default, help=declared.help or derived.help)
