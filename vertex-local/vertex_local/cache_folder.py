"""The folder of this machine that all local clouds share: images, environments and wheels of jobs."""

from collections.abc import Mapping
from pathlib import Path


def root(environ: Mapping[str, str]) -> Path:
    """Return `$VERTEX_LOCAL_CACHE`, else `$XDG_CACHE_HOME/vertex-local`, else `~/.cache/vertex-local`, absolute."""
    if own := environ.get("VERTEX_LOCAL_CACHE"):
        return Path(own).expanduser().absolute()
    shared = environ.get("XDG_CACHE_HOME", "")
    # The XDG rules: a relative path is ignored.
    if shared and Path(shared).is_absolute():
        return Path(shared) / "vertex-local"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()) / ".cache" / "vertex-local"
