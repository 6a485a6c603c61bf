"""What the cloud puts into a job's environment beside the image and the job's packages."""

import shutil
from pathlib import Path

_SOURCE = Path(__file__).with_name("vertex_endpoint.py")
_MODULE = "_local_vertex_endpoint"


def settle(environment: Path) -> None:
    """Let every Python of a virtual environment load `vertex_endpoint` as it starts."""
    for packages in environment.glob("lib/python3*/site-packages"):
        shutil.copyfile(_SOURCE, packages / f"{_MODULE}.py")
        (packages / f"{_MODULE}.pth").write_text(f"import {_MODULE}\n", encoding="utf-8")
