"""Files that `make` leaves on a machine beside its own folders. # D8"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.ci.conftest import ROOT

# uv leaves a lock for each source that it builds.
UV = """#!/bin/sh
case "$*" in *"--editable ."*) touch "${TMPDIR:-/tmp}/uv-setuptools.lock" ;; esac
"""


def test_the_set_up_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    folder, temporary = tmp_path / "our checkout", tmp_path / "temporary"
    tools = folder / ".venv" / "bin"
    tools.mkdir(parents=True)
    temporary.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements-dev.txt"):
        shutil.copy(ROOT / name, folder)
    for name, text in (("python", "#!/bin/sh\n"), ("uv", UV)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    subprocess.run(["make", "setup"], cwd=folder, env={**os.environ, "TMPDIR": str(temporary)}, check=True)
    assert (folder / ".venv" / ".ready").exists()
    assert not [*temporary.iterdir()]
