"""The stack's configuration, as the engine has it, checked like the file it mostly comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
from pulumi.runtime.config import get_config_env

from slipway.errors import ConfigError
from slipway.stack.document import Document, load
from slipway.stack.stack import Stack, parse, plain


def configured(checkout: Path) -> Stack:
    """The stack that is being deployed. Raises StackErrors with file and line of everything that is wrong.

    The engine's values win over the file's (`pulumi up --config …`), whose lines are kept for the errors.
    """
    stack = pulumi.get_stack()
    file = checkout / "stacks" / f"Pulumi.{stack}.yaml"
    try:
        document = load(file, shown_as=f"stacks/{file.name}")
    except ConfigError:
        document = Document("", {})
    written: dict[str, Any] = document.values if isinstance(document.values, dict) else {}
    config: Any = written.get("config")
    given = {key: plain(key, value) for key, value in get_config_env().items()}
    values = {**written, "config": {**(config if isinstance(config, dict) else {}), **given}}
    return parse(Document(document.file, values, document.lines, document.findings), stack=stack)


def place() -> tuple[str, str]:
    """Project and region alone, unchecked, for a destruction, which no mistake may prevent."""
    gcp = pulumi.Config("gcp")
    return gcp.get("project") or "", gcp.get("region") or ""
