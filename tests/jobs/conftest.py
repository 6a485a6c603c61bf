"""An environment as the prebuilt image has it, with the job's package installed as the service would."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from slipway.packages import build
from slipway.template import Package
from slipway.template.load import load

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ("dask-digits",)


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the image's packages and those of the jobs that run in it."""
    folder = tmp_path_factory.mktemp("image")
    interpreter = folder / "venv" / "bin" / "python"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")], check=True, timeout=120)
    recipes = pytest.importorskip("local.cloud.images.recipes", reason="needs the image's recipe", exc_type=ImportError)
    needed: list[str] = []
    for template in load(TEMPLATES, ROOT / "templates"):
        code = template.code
        assert isinstance(code, Package)
        recipe = recipes.recipe_for(code.image)
        assert recipe, "the template's image has a local recipe"
        needed += [*recipe.requirements, str(build(template.name, ROOT / code.folder).save(folder))]
    install = [*uv, "pip", "install", "--quiet", "--python", str(interpreter)]
    subprocess.run([*install, *dict.fromkeys(needed)], check=True, timeout=600)
    return interpreter


def environ(**more: str) -> dict[str, str]:
    """What a replica starts with, without what this test run has."""
    kept: Mapping[str, str] = os.environ
    dropped = ("GOOGLE_", "STORAGE_", "CLUSTER_SPEC", "AIP_", "OMP_", "PYTHONPATH")
    return {**{name: value for name, value in kept.items() if not name.startswith(dropped)}, **more}
