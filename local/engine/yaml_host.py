"""Pulumi's language host for programs in YAML, built as the engine is. An official Pulumi has one already."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from . import build
from .cache import Cache, root
from .errors import EngineError, in_words

HOST = build.Program(
    name="pulumi-language-yaml",
    title="the YAML language host",
    module="yaml",
    package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    version="v3.259.0",
)


def ensure(progress: Callable[[str], None], environ: Mapping[str, str]) -> Path:
    """Return the folder of the YAML language host, built first if the cache has none. Raises EngineError."""
    cache = Cache(root(environ) / "yaml-host")
    try:
        if done := cache.ready(_recipe()):
            return done
        with cache.hold(progress) as lock:
            if cache.ready(_recipe()) is None:
                with cache.making(_recipe()) as folder:
                    build.build_program(HOST, folder, progress, environ, lock)
        built = cache.ready(_recipe())
    except OSError as error:
        raise in_words(error) from error
    if built is None:
        raise EngineError(
            "the YAML language host vanished from the cache right after it was built",
            f"something else removes files from {cache.folder}",
            "set SLIPWAY_CACHE to a folder of your own, then run again",
        )
    return built


def _recipe() -> str:
    """Return 12 hex digits of the pinned modules."""
    pins = b"".join((build.SOURCES / HOST.module / name).read_bytes() for name in ("go.mod", "go.sum"))
    return hashlib.sha256(pins).hexdigest()[:12]
