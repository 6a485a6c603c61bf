"""Releases of slipway as people install them: a package folder with its metadata, and the wheel at its address."""

import hashlib
import json
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slipway.base import installation

STARTER = installation.PACKAGE / "front" / "starter"
LOCK = """\
certifi==2026.10.18 \\
    --hash=sha256:{letter}1 \\
    --hash=sha256:{letter}2
    # via slipway-vertex (pyproject.toml)
click==8.{minor}.0 \\
    --hash=sha256:{letter}3
"""


@dataclass(frozen=True)
class Release:
    """An installed release. Its starter may be edited: init writes the present files."""

    site: Path
    version: str
    wheel: Path

    @property
    def starter(self) -> Path:
        return self.site / "slipway" / "front" / "starter"

    @property
    def cloud(self) -> Path:
        """The wheel of the local cloud, beside the other."""
        return self.wheel.with_name(f"vertex_local-{self.version}-py3-none-any.whl")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.wheel.read_bytes()).hexdigest()

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.starter / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def came_from(self, origin: dict[str, Any]) -> None:
        about = self.site / f"slipway_vertex-{self.version}.dist-info"
        (about / "direct_url.json").write_text(json.dumps(origin))

    def run_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let `slipway` be this release from now on."""
        monkeypatch.setattr(installation, "PACKAGE", self.site / "slipway")


def release(folder: Path, version: str) -> Release:
    """Return an installed release that came from a wheel in a folder, as uv leaves it."""
    made = Release(folder / version, version, folder / f"slipway_vertex-{version}-py3-none-any.whl")
    about = made.site / f"slipway_vertex-{version}.dist-info"
    about.mkdir(parents=True)
    shutil.copytree(STARTER, made.starter)
    for name in ("templates", "jobs"):  # As pyproject.toml has them in the wheel.
        shutil.copytree(STARTER.parents[2] / name, made.site / "slipway" / "examples" / name)
    for extra in ("deploy", "local"):
        (made.starter / f"requirements-{extra}.lock").unlink(missing_ok=True)
        minor, letter = version.split(".")[1], "ab"[extra == "local"]
        (made.starter / f"requirements-{extra}.lock").write_text(LOCK.format(minor=minor, letter=letter))
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: slipway-vertex\nVersion: {version}\n")
    (about / "INSTALLER").write_text("uv\n")
    rows = f"slipway/__init__.py,sha256={version},0\n"
    with zipfile.ZipFile(made.wheel, "w") as packed:
        packed.writestr(f"{about.name}/RECORD", f"{rows}{about.name}/RECORD,,\n")
    with zipfile.ZipFile(made.cloud, "w") as packed:
        packed.writestr("vertex_local/__init__.py", "")
    (about / "RECORD").write_text(f"{rows}{about.name}/RECORD,,\n{about.name}/INSTALLER,sha256=x,3\n")
    made.came_from({"url": made.wheel.as_uri(), "archive_info": {}})
    return made
