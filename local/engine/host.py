"""The Python language host of an engine in the cache: it ends with its engine, however that ends."""

from __future__ import annotations

import shutil
from pathlib import Path

from .find import LANGUAGE_HOST

SCRIPT = Path(__file__).with_name("language_host.sh")


def watch(folder: Path) -> None:
    """Put the script that watches before the language host into `folder`, which nobody uses yet."""
    host = folder / LANGUAGE_HOST
    host.rename(folder / f"{LANGUAGE_HOST}-host")
    shutil.copyfile(SCRIPT, host)
    host.chmod(0o755)
