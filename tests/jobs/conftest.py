"""Environments of images, in which tests run a job's package in its place."""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import uv

from slipway.authoring.packages.source_package import requirements
from tests.checkouts.made_once import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
IMAGES = "us-docker.pkg.dev/vertex-ai/training"
SKLEARN = f"{IMAGES}/sklearn-cpu.1-6:latest"
TORCH = f"{IMAGES}/pytorch-xla.2-4.py310:latest"
TORCH_ON_GPUS = f"{IMAGES}/pytorch-gpu.2-4.py310:latest"
_DROPPED = ("GOOGLE_", "STORAGE_", "CLUSTER_SPEC", "AIP_", "OMP_", "PYTHONPATH")


def interpreter(folder: Path, image: str, job: str = "", needed: Sequence[str] = ()) -> Path:
    """Return the interpreter of this machine's environment of the image, with what a job needs: its requirements, or
    `needed` of them; `folder` gets a link to it."""
    images = pytest.importorskip("vertex_local.images.cache", reason="needs the images' recipes", exc_type=ImportError)
    recipes = pytest.importorskip("vertex_local.images.recipes", exc_type=ImportError)
    recipe = recipes.recipe_for(image)
    assert recipe, "the image has a local recipe"
    shared = replace(recipe, shared=True)
    bare = images.cached(folder, image, shared, _tool, uv.find_uv_bin(), print, images.common(os.environ))
    environment: Path = _with_requirements(bare, job, needed) if job else bare
    return environment / "bin" / "python"


def _with_requirements(bare: Path, job: str, some: Sequence[str]) -> Path:
    """Return the environment with what the job needs, kept beside it: compiling takes seconds."""
    files = pytest.importorskip("vertex_local.files", reason="needs the local cloud", exc_type=ImportError)
    images = pytest.importorskip("vertex_local.images.cache", reason="needs the images' recipes", exc_type=ImportError)
    needed = some or requirements(ROOT / "jobs" / job.replace("-", "_"))
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


def _tool(command: Sequence[str]) -> None:
    if command:
        subprocess.run(command, check=True)


def environ(**more: str) -> dict[str, str]:
    """Return a replica's environment, which finds the packages in their place, without this test run's variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    own = {"PYTHONPATH": str(ROOT / "jobs"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return {**kept, **own, **more}


def said(python: Path, program: str, *arguments: str) -> str:
    """Return what a program in a job's environment prints; it is to end well."""
    done = subprocess.run([python, "-c", program, *arguments], env=environ(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
