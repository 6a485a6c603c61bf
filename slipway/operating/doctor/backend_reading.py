"""The engine's state of one stack, as `pulumi stack export` has it, from whichever backend."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipway.base.codec import from_json
from slipway.google.answers import MISREAD
from slipway.google.live import Unknown
from slipway.model.state import read
from slipway.operating.doctor.picture import Backend

_ENGINE_S = 60
_NOT_CHOSEN = "PULUMI_ACCESS_TOKEN must be set"
"""The engine's words where neither the environment, the project nor a login names a backend."""


def look(checkout: Path, environ: Mapping[str, str], stack: str) -> Backend | str:
    """Ask the engine for a stack's state; return the reason where it was not asked."""
    if (pulumi := shutil.which("pulumi", path=environ.get("PATH"))) is None:
        return "the state: pulumi reads it, and is not on PATH"
    address = environ.get("PULUMI_BACKEND_URL", "").strip().partition("?")[0] or "that pulumi is logged in to"
    backend = Backend(address=address, state=None)
    command = (pulumi, "stack", "export", "--stack", stack, "--non-interactive")
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environ, capture_output=True, text=True, check=False, timeout=_ENGINE_S
        )
        if done.returncode and _NOT_CHOSEN in done.stderr:
            return "the state: no backend is chosen (PULUMI_BACKEND_URL, or pulumi login)"
        if done.returncode and "no stack named" in done.stderr:
            return backend
        if done.returncode:
            why = done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}"
            return replace(backend, state=_unread(why, address))
        latest = from_json(done.stdout)["deployment"]
    except (OSError, subprocess.TimeoutExpired, *MISREAD) as problem:
        return replace(backend, state=_unread(problem, address))
    return _understood(backend, latest if isinstance(latest, dict) else {})


def _understood(backend: Backend, latest: dict[str, Any]) -> Backend:
    """Add a deployment's document; a document of another form is an `Unknown`."""
    try:
        pending = [operation for operation in latest.get("pending_operations") or () if isinstance(operation, dict)]
        # The old half of a replacement is marked for its deletion.
        resources = latest.get("resources") or ()
        living = (resource for resource in resources if not resource.get("delete"))
        urns = (str(operation.get("resource", {}).get("urn", "")) for operation in pending)
        return replace(
            backend,
            state=read({resource["urn"]: resource for resource in living}),
            pending=tuple(urn.rpartition("::")[2] for urn in urns),
            empty=not resources and not pending,
            deletes=bool(pending) and all(operation.get("type") == "deleting" for operation in pending),
        )
    except MISREAD as problem:
        why = f"it is of another form than expected ({problem})"
        return replace(backend, state=Unknown(why=why, api="", role="another version of slipway"))


def _unread(why: object, address: str) -> Unknown:
    role = 'a state that pulumi can read (docs/runbook.md, "The state was cut off")'
    return Unknown(why=f"pulumi: {why}", api=address, role=role)
