"""An environment like the prebuilt image's, with the job's package installed as the service would."""

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import uv

from slipway.packages.source_package import build, requirements
from tests.checkouts.made_once import PATIENCE_S, once

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with the packages of the scikit-learn image and those of dask-digits."""
    image = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
    return installed(
        tmp_path_factory, image, "dask-digits" if (ROOT / "jobs" / "dask_digits").is_dir() else "spot-digits"
    )


def installed(factory: pytest.TempPathFactory, image: str, job: str) -> Path:
    """Return the interpreter of an environment with the image's packages and the job's, as a run on the local cloud has
    it."""
    cache = pytest.importorskip("local.cloud.images.cache", reason="needs the images' recipes", exc_type=ImportError)

    def make(folder: Path) -> None:
        cache.copied(_with_requirements(folder / "images", image, job), folder / "environment", lasting=True)
        package = build(job, ROOT / "jobs" / job.replace("-", "_"), "").save(folder)
        python = folder / "environment" / "bin" / "python"
        _tool((uv.find_uv_bin(), "pip", "install", "--quiet", "--python", str(python), str(package)))

    return once(factory, f"environment-{job}", make) / "environment" / "bin" / "python"


def _with_requirements(folder: Path, image: str, job: str) -> Path:
    """Return this machine's environment of the image with the job's requirements, kept beside it: compiling takes
    seconds."""
    files = pytest.importorskip("local.cloud.files", reason="needs the local cloud", exc_type=ImportError)
    images = pytest.importorskip("local.cloud.images.cache", reason="needs the images' recipes", exc_type=ImportError)
    bare = image_environment(folder, image)
    needed = requirements(ROOT / "jobs" / job.replace("-", "_"))
    digest = hashlib.sha256("\n".join((bare.name, *needed)).encode()).hexdigest()[:10]
    kept = bare.with_name(f"{job}-{digest}")
    with files.locked(kept.with_name(f"{kept.name}.lock"), PATIENCE_S):
        if not (kept / images.READY).exists():
            images.remove(kept)
            images.copied(bare, kept, lasting=True)
            python = str(kept / "bin" / "python")
            _tool((uv.find_uv_bin(), "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *needed))
            (kept / images.READY).touch()
    return kept


def image_environment(folder: Path, image: str) -> Path:
    """Return this machine's environment of the image; `folder` gets a link to it."""
    images = pytest.importorskip("local.cloud.images.cache", reason="needs the images' recipes", exc_type=ImportError)
    recipes = pytest.importorskip("local.cloud.images.recipes", exc_type=ImportError)
    recipe = recipes.recipe_for(image)
    assert recipe, "the image has a local recipe"
    shared = replace(recipe, shared=True)
    found: Path = images.cached(folder, image, shared, _tool, uv.find_uv_bin(), print, images.common(os.environ))
    return found


def _tool(command: Sequence[str]) -> None:
    if command:
        subprocess.run(command, check=True)


def environ(**more: str) -> dict[str, str]:
    """Return a replica's environment, without this test run's variables."""
    kept: Mapping[str, str] = os.environ
    dropped = ("GOOGLE_", "STORAGE_", "CLUSTER_SPEC", "AIP_", "OMP_", "PYTHONPATH")
    return {**{name: value for name, value in kept.items() if not name.startswith(dropped)}, **more}
