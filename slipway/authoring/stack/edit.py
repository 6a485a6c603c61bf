"""An edit of a stack by a team's own program, for what a file can't say in a loop; held to the checks of a file."""

from __future__ import annotations

import ast
import inspect
import traceback
from dataclasses import fields
from pathlib import Path
from typing import Any

from slipway.authoring.stack.declared import cluster_entry, reservation_entry, sessions_entry
from slipway.authoring.stack.stack import Edit, Stack, parse
from slipway.authoring.stack.yaml_file import Document
from slipway.base import codec
from slipway.base.errors import ConfigError


def edit_line(program: Path) -> int:
    """Return the line of a program's `deploy(__file__, stack=…)`; 0 where it deploys the file as it stands."""
    try:
        tree = ast.parse(program.read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return 0  # None is there, or the engine says what is wrong with it.
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = (call for call in calls if ast.unparse(call.func).rpartition(".")[2] == "deploy")
    edits = (call for call in named if call.args[1:] or any(keyword.arg == "stack" for keyword in call.keywords))
    return next((call.lineno for call in edits), 0)


def edited(stack: Stack, edit: Edit) -> tuple[Document, Stack]:
    """Return the edited stack, and what a stack file would have for it.

    Raises ConfigError, with the function's name, file and line, where it fails, moves the
    stack, or returns what no stack file could declare."""
    code = inspect.unwrap(edit).__code__
    line = code.co_firstlineno
    who = f"{edit.__name__} of {Path(code.co_filename).name}"
    try:
        result = edit(stack)
        values = {"config": _config(result)}
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        at = next((frame.lineno for frame in reversed(frames) if frame.filename == code.co_filename), line)
        why = f"line {at}: {type(error).__name__}: {error}"
        raise ConfigError(f"{who} returns no stack", why=why, fix="dataclasses.replace(stack, …) makes one") from error
    if (result.name, result.project, result.region) != (stack.name, stack.project, stack.region):
        raise ConfigError(
            f"{who} moves the stack",
            why="the engine knows its resources by its name, project and region",
            fix="leave these as they are; another stack is another file",
        )
    # The checks of a stack file hold for the result too.
    document = Document(who, values, {(): line})
    declared = parse(document, stack=stack.name, identity=stack.identity)
    for field in fields(Stack):
        if getattr(declared, field.name) != getattr(result, field.name):
            raise ConfigError(
                f"{who} gives `{field.name}` a value that no stack file can have",
                fix="change what a stack file can say (docs/stack-file.md)",
            )
    return document, result


def _config(stack: Stack) -> dict[str, Any]:
    return {
        "gcp:project": stack.project,
        "gcp:region": stack.region,
        "gcp:addPulumiAttributionLabel": "false",  # as in every stack file
        "slipway:persistentResources": {cluster.name: cluster_entry(cluster) for cluster in stack.clusters},
        "slipway:quota": stack.quota.model_dump(by_alias=True, exclude_defaults=True),
        "slipway:policy": stack.policy.model_dump(by_alias=True, exclude_none=True),
        "slipway:templates": list(stack.templates),
        "slipway:regions": list(stack.regions),
        "slipway:workspace": stack.workspace.model_dump(by_alias=True, exclude_none=True),
        "slipway:reservations": {name: reservation_entry(held) for name, held in stack.reservations.items()},
        "slipway:machines": {key: entry.model_dump(by_alias=True) for key, entry in stack.machines.items()},
        "slipway:trainers": {name: trainer.model_dump(by_alias=True) for name, trainer in stack.trainers.items()},
        "slipway:teams": {
            name: team.model_dump(by_alias=True, exclude_none=True) for name, team in stack.teams.items()
        },
        "slipway:shares": {cluster: dict(shares) for cluster, shares in stack.shares.items()},
        **({"slipway:budget": codec.write(stack.budget)} if stack.budget else {}),
        **({"slipway:sessions": sessions_entry(stack.sessions)} if stack.sessions else {}),
        **({"slipway:agents": codec.write(stack.agents)} if stack.agents else {}),
    }
