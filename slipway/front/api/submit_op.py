"""A component for somebody's own Kubeflow pipeline: `slipway.kfp.submit_op`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ConfigError
from slipway.base.installation import source
from slipway.front.api.call import check, check_given
from slipway.google.catalog.lookup import address
from slipway.model.catalog.model import VARIABLE
from slipway.model.catalog.placeholders import render, single
from slipway.model.kinds.pipeline import THIS_STACK

if TYPE_CHECKING:
    from kfp.dsl import PipelineTask

IMAGE = "python:3.12-slim"
_OUTPUTS = {"job": "String", "output": "String", "folder": "Artifact", "metrics": "Metrics"}
_TYPES = {bool: "Boolean", int: "Integer", float: "Float", str: "String", list: "List", dict: "Dict"}
_PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore")
_START = 'exec python3 -m slipway.kfp "$0" "$@"'
_INPUT = re.compile(r"[a-z0-9]([a-z0-9_]*[a-z0-9])?")
_NEVER = ("like", "code", "request_id")


def submit_op(
    template: str,
    *,
    catalog: str | None = None,
    base_image: str | None = None,
    packages_to_install: Sequence[str] | None = None,
    **arguments: Any,
) -> PipelineTask:
    """Return a task of the pipeline that is being defined, which submits one job of a template and waits for its end.

    `catalog`: `gs://BUCKET[/NAME]`; None is that of the stack whose template the pipeline is.
    `base_image`: has Slipway and its `python3`; None is Python's own, where pip first installs this very Slipway.
    `packages_to_install`: what pip is told to install in its place, options such as `--index-url` among it.
    `arguments`: those of `slipway.submit`, parameters of the template among them. Each is a value, an output of another
    task, or a parameter of the pipeline; an artifact stands for its URI.

    The job is submitted under an id of the pipeline's task: whatever answer was lost, and however often the task is
    started again, it is one job. The task fails as the job fails, and a cancelled pipeline cancels the job. Its outputs
    are the job's name (`job`), its output directory as a text (`output`) and as an artifact (`folder`), and its last
    `metrics`. It asks for one CPU and 2 GB, and is never taken from the cache.

    Raises ConfigError for arguments that a task can't have, and where kfp is missing.
    """
    try:
        from kfp import components
    except ModuleNotFoundError:
        what = "slipway.kfp needs kfp 2, which is not installed here"
        raise ConfigError(what, why="it compiles the pipeline", fix="pip install 'kfp>=2'") from None
    if refused := next((name for name in arguments if name in _NEVER or not _INPUT.fullmatch(name)), None):
        why = "kfp gives a task inputs of lowercase letters and digits, with _ between them, and no others"
        if refused in _NEVER:
            why = "a task submits a template as it is published, under an id of its own"
        raise ConfigError(f"submit_op takes no {refused}", why=why, fix="leave it out")
    check(template=template)
    if isinstance(catalog, str):
        catalog = str(address(catalog))
    given = {"template": template, "catalog": catalog, **arguments}
    given = {name: value for name, value in given.items() if value is not None}
    check_given({name: value for name, value in given.items() if not hasattr(value, "channel_type")})
    given = {name: _as_json(value) for name, value in given.items()}
    if packages_to_install is None:
        packages_to_install = () if base_image else (_this_slipway(),)
    words = (packages_to_install,) if isinstance(packages_to_install, str) else packages_to_install
    install = shlex.join(("python3", *_PIP, *words)) + " && " if words else ""
    container = {
        "image": base_image or IMAGE,
        # A container's first process gets no SIGTERM that it does not ask for: pip would go on, and a job be sent.
        "command": ["sh", "-ec", f"trap 'exit 143' TERM; {install}{_START}"],
        "args": ["{{$.pipeline_job_resource_name}}", "{{$}}"],
        **({} if catalog else {"env": {VARIABLE: THIS_STACK}}),
    }
    definition = {
        "name": template,
        "inputs": [{"name": name, "type": _type(value)} for name, value in given.items()],
        "outputs": [{"name": name, "type": type_} for name, type_ in _OUTPUTS.items()],
        "implementation": {"container": container},
    }
    task: PipelineTask = components.load_component_from_text(json.dumps(definition))(**given)
    return task.set_caching_options(False).set_cpu_limit("1").set_memory_limit("2G")


def _as_json(value: Any) -> Any:
    """Return a value as kfp writes it, which has plain types alone and rounds whole numbers above 2**53: others as
    texts, which a submission takes as well."""
    if isinstance(value, list | tuple):
        return list(map(_as_json, value))
    value = single(value)
    exact = type(value) in (str, bool) or (type(value) in (int, float) and abs(value) <= 2**53)
    return render(value) if isinstance(value, str | Real) and not exact else value


def _type(value: Any) -> Any:
    """Return the type of an input for a value, or of another task's output."""
    of = next((name for type_, name in _TYPES.items() if isinstance(value, type_)), None)
    return getattr(value, "channel_type", of)


def _this_slipway() -> str:
    """Return the source of this Slipway. Raises ConfigError for a folder or a file, which no task has."""
    found = source()
    if found.startswith("/") or "file://" in found:
        raise ConfigError(
            "no task can install this Slipway",
            why=f"it comes from this machine: {found}",
            fix='packages_to_install=["/gcs/BUCKET/slipway_vertex-….whl"], or a base_image that has it',
        )
    return found
