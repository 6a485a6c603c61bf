"""Files that are the old one or the new one, whatever happens in between."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes, *, mode: int = 0o644, durable: bool = True) -> None:
    """Write `content` to `path`: a reader, or whoever comes after a kill, sees the old or the new one whole.

    It is on the disk before the name points at it, unless `durable` is False: then a power cut, but no kill, may lose
    it. Raises OSError with the old file untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content.encode() if isinstance(content, str) else content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
