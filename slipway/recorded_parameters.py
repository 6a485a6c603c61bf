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

MARK = "\udc24"
"""A `$` of a value until `escaped` makes one of it again. No value has half a surrogate pair: it is `unfit`."""
_READ_BY_SERVICE = re.compile(rf"{MARK}(?=[{MARK}$(])|(?<={MARK}){MARK}")


def unfit(value: float | str) -> str:
    """The reason why no JSON can carry a value; an empty string when it can."""
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


def escaped(text: str, *, expanded: bool = True) -> str:
    """A text as it is sent, in which each `$` of a value is `MARK` yet. Where the service has texts `expanded`, it
    takes `$(NAME)` for a variable and `$$` for `$`, as Kubernetes does: there a value's are doubled."""
    return (_READ_BY_SERVICE.sub("$$", text) if expanded else text).replace(MARK, "$")


def recorded(values: Mapping[str, int | float | str | bool]) -> str:
    """The variable's value as it is sent: canonical JSON, so that equal parameters are equal texts."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return escaped(text.replace("$", MARK))


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
        found = json.loads((text or "").replace("$$", "$"))
    except (ValueError, RecursionError):
        return None
    plain = isinstance(found, dict) and all(isinstance(value, int | float | str) for value in found.values())
    return found if plain and not any(map(unfit, (*found, *found.values()))) else None
