"""The program that a person would write without Slipway: plain pulumi-gcp with a deployed stack's resources."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.errors import BenchError

# The engine's marks in a state's property values.
_MARK = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_ASSET = "c44067f5952c0a294b673a41bacd8c17"


def program(deployment: Mapping[str, Any], folder: Path) -> str:
    """Return Python source that declares each gcp resource of `deployment` (`pulumi stack export --show-secrets`) by
    itself.

    Names, inputs and the order between resources are the same; components, hooks and checks are left out. `folder` is
    where the deployed program ran, which relative paths of assets start from. Raises BenchError when the deployment has
    none, or holds a value that has no place in a plain program.
    """
    lines = ["import pulumi", "import pulumi_gcp as gcp", ""]
    variables: dict[str, str] = {}
    for resource in deployment["deployment"].get("resources", ()):
        if not resource["type"].startswith("gcp:"):
            continue
        variable = variables[resource["urn"]] = f"r{len(variables)}"
        name = resource["urn"].rsplit("::", 1)[1]
        arguments = [repr(name), *_arguments(resource["inputs"], folder)]
        before = [variables[urn] for urn in resource.get("dependencies", ()) if urn in variables]
        if before:
            arguments.append(f"opts=pulumi.ResourceOptions(depends_on=[{', '.join(before)}])")
        lines.append(f"{variable} = {_class(resource['type'])}({', '.join(arguments)})")
    if not variables:
        raise BenchError("the deployed stack has no gcp resources: there is nothing to compare a preview with")
    return "\n".join(lines) + "\n"


def _class(token: str) -> str:
    """Return `gcp.vertex.AiPersistentResource` for `gcp:vertex/aiPersistentResource:AiPersistentResource`."""
    _, module, name = token.split(":")
    return f"gcp.{module.split('/')[0]}.{name}"


def _arguments(inputs: Mapping[str, Any], folder: Path) -> list[str]:
    return [f"{_snake(key)}={_value(value, folder)}" for key, value in inputs.items() if not key.startswith("__")]


def _value(value: Any, folder: Path) -> str:
    if isinstance(value, Mapping):
        if _MARK in value:
            return _marked(value, folder)
        parts = (f"{_snake(key)!r}: {_value(item, folder)}" for key, item in value.items() if not key.startswith("__"))
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_value(item, folder) for item in value) + "]"
    return repr(value)


def _marked(value: Mapping[str, Any], folder: Path) -> str:
    if value[_MARK] == _SECRET and "plaintext" in value:
        return _value(json.loads(value["plaintext"]), folder)
    if value[_MARK] == _ASSET and "path" in value:
        return f"pulumi.FileAsset({str(folder / value['path'])!r})"
    if value[_MARK] == _ASSET and "text" in value:
        return f"pulumi.StringAsset({value['text']!r})"
    raise BenchError(f"a value of the deployed stack can't be written into a plain program: {sorted(value)}")


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower() if key[:1].islower() else key
