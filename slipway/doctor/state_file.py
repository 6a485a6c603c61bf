"""The file of a stack's state in a folder: what is in it, whether it was cut off, and the copies that the engine keeps.

Beside it is the one that it replaced last, and among the backups one of each command's end: older, and so second.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slipway.cloud.answers import MISREAD
from slipway.doctor.picture import Damage

PACKED = ".gz"


def names(project: str, stack: str) -> tuple[str, str]:
    """Plain or compressed, as the engine looks for it."""
    plain = f".pulumi/stacks/{project}/{stack}.json"
    return plain, plain + PACKED


def parsed(name: str, content: bytes) -> Any:
    """The JSON in a file of this name or a copy's. Raises ValueError where it was cut off: an EOFError would be a
    person's end of the input elsewhere."""
    if name.removesuffix(".bak").endswith(PACKED):
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as problem:
            raise ValueError(f"it is not a whole gzip file: {problem}") from problem
    return json.loads(content)


def damage(folder: Path, project: str, stack: str) -> Damage | None:
    """None where the file is whole or not there. Raises OSError."""
    for name in names(project, stack):
        file = folder / name
        if not file.exists():
            continue
        try:
            parsed(name, file.read_bytes())
        except ValueError:
            whole = (str(copy) for copy in _copies(folder, file, project, stack) if _is_whole(copy))
            return Damage(str(file), next(whole, ""))
        return None
    return None


def _copies(folder: Path, file: Path, project: str, stack: str) -> Iterator[Path]:
    """The newest first, of those that the engine can read under the file's name: compressed as that is."""
    yield file.with_name(f"{file.name}.bak")
    suffix = file.name.removeprefix(stack)
    dated = {
        one: when
        for one in (folder / ".pulumi" / "backups" / project / stack).glob("*")
        if (when := one.name.removeprefix(f"{stack}.").removesuffix(suffix)).isdecimal()
    }
    yield from sorted(dated, key=lambda one: int(dated[one]), reverse=True)


def _is_whole(copy: Path) -> bool:
    try:
        return isinstance(parsed(copy.name, copy.read_bytes())["checkpoint"], dict)
    except (OSError, *MISREAD):
        return False
