"""Writes files to a folder, which is a local path or gs://bucket/prefix."""

from __future__ import annotations

import json
import posixpath
from io import BytesIO
from pathlib import Path
from typing import Any


def write(folder: str, name: str, content: bytes) -> str:
    """Write a file; return its place. An object replaces one of that name as a whole or not at all."""
    target = posixpath.join(folder, name)
    if target.startswith("gs://"):
        import google.cloud.storage as storage
        from google.cloud.storage.retry import DEFAULT_RETRY

        storage.Blob.from_string(target, client=storage.Client()).upload_from_string(content, retry=DEFAULT_RETRY)
        return target
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    Path(target).write_bytes(content)
    return target


def write_json(folder: str, name: str, value: Any) -> str:
    return write(folder, name, (json.dumps(value, indent=2, sort_keys=True) + "\n").encode())


def write_model(folder: str, name: str, model: Any) -> str:
    import joblib

    buffer = BytesIO()
    joblib.dump(model, buffer)
    return write(folder, name, buffer.getvalue())
