"""The parameters that a job was submitted with, as its own request carries them: one variable in the environment of
each replica. Nothing else says what they were: arguments and machines made of them can't be read backwards.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

VARIABLE = "SLIPWAY_PARAMETERS"
MOST_BYTES = 32 * 1024

_EXPANDED_BY_SERVICE = re.compile(r"\$(?=\([A-Za-z_][A-Za-z0-9_]*\))")
_ESCAPED = re.compile(r"\$\$(?=\([A-Za-z_][A-Za-z0-9_]*\))")


def unfit(value: float | str) -> str:
    """Why no JSON can carry a value; an empty string when it can."""
    if not isinstance(value, str):
        try:
            return "" if math.isfinite(value) else "is not finite"
        except OverflowError:  # A whole number that no float holds, nor most of those who read it.
            return "is too large"
    try:
        value.encode()
    except UnicodeEncodeError:  # Half of a character: bytes of a shell, or an escape in JSON.
        return "is not valid UTF-8"
    return ""


def excess(values: Mapping[str, float | str]) -> str:
    """Why these values together are too much for one job, an empty string when they are not."""
    size = len(recorded(values).encode())
    return "" if size <= MOST_BYTES else f"take {size:,} bytes as JSON, at most {MOST_BYTES:,} (32 KB)"


def escaped(text: str) -> str:
    """The text with a `$` before each `$(NAME)`, which the service would replace by that variable's value."""
    return _EXPANDED_BY_SERVICE.sub("$$", text)


def recorded(values: Mapping[str, int | float | str | bool]) -> str:
    """The variable's value as it is sent: canonical JSON, so that equal parameters are equal texts."""
    return escaped(json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def record(spec: Mapping[str, Any], text: str) -> None:
    """Adds the variable to every worker pool of a CustomJobSpec that is used, in place."""
    for pool in spec.get("workerPoolSpecs", ()):
        for task in (pool[key] for key in ("containerSpec", "pythonPackageSpec") if key in pool):
            task["env"] = [*(task.get("env") or ()), {"name": VARIABLE, "value": text}]


def read(env: Iterable[str]) -> Mapping[str, int | float | str | bool] | None:
    """The values from an environment of `NAME=value`, as it was sent; None where it does not have them, or something
    that no submission records: anybody may have sent the job."""
    text = next((one.removeprefix(f"{VARIABLE}=") for one in env if one.startswith(f"{VARIABLE}=")), None)
    try:
        found = json.loads(_ESCAPED.sub("$", text or ""))
    except (ValueError, RecursionError):
        return None
    plain = isinstance(found, dict) and all(isinstance(value, int | float | str) for value in found.values())
    return found if plain and not any(map(unfit, (*found, *found.values()))) else None
