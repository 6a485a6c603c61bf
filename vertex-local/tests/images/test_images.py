"""Images as environments: heavy ones are built once for the machine, and caches only link to them (B4, N4)."""

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vertex_local.images import cache, packages
from vertex_local.images.recipes import Recipe, recipe_for

HEAVY = Recipe("torch", ("*/torch*",), ("torch==2",), shared=True)
LIGHT = Recipe("python", ("python:3*",), ("pip",))
IMAGE = "us-docker.pkg.dev/vertex-ai/training/torch.2-5:latest"


class Uv:
    """Stands for uv: makes the folders that a real one makes, and can be killed at its n-th command."""

    def __init__(self, killed_at: int = -1) -> None:
        self.commands: list[str] = []
        self.killed_at = killed_at

    def __call__(self, command: Sequence[str]) -> None:
        if not command or command[0] != "uv":
            return
        self.commands.append(command[1])
        if len(self.commands) == self.killed_at:
            raise KeyboardInterrupt
        if command[1] == "venv":
            (Path(command[-1]) / "bin").mkdir(parents=True)
        else:
            home = Path(command[command.index("--python") + 1]).parents[1]
            (home / "lib").mkdir()
            (home / "lib" / "module.py").write_text("heavy = True\n")
            (home / "bin" / "torchrun").write_text(f"#!{home}/bin/python\n")


def pulled(pool: Path, shelf: Path, uv: Uv, recipe: Recipe = HEAVY, image: str = IMAGE) -> tuple[Path, list[str]]:
    said: list[str] = []
    return cache.cached(pool, image, recipe, uv, "uv", said.append, shelf), said


def test_a_shared_environment_is_built_once_and_each_cache_links_to_it(tmp_path: Path) -> None:
    uv, shelf = Uv(), tmp_path / "shelf"
    first, said = pulled(tmp_path / "a", shelf, uv)
    second, _ = pulled(tmp_path / "b", shelf, uv, image=IMAGE.replace("2-5", "2-6"))
    assert first == second and first.parent == shelf
    assert uv.commands == ["venv", "pip"]
    assert [path.is_symlink() for path in (tmp_path / "b").iterdir() if path.suffix != ".lock"] == [True]
    assert any("recipe torch" in line for line in said)
    assert pulled(tmp_path / "a", shelf, uv)[1] == [f"Image {IMAGE} is in the cache."]


def test_several_at_once_build_a_shared_environment_once(tmp_path: Path) -> None:
    uv, shelf = Uv(), tmp_path / "shelf"
    with ThreadPoolExecutor(8) as pools:
        homes = list(pools.map(lambda number: pulled(tmp_path / str(number), shelf, uv)[0], range(8)))
    assert len(set(homes)) == 1 and uv.commands == ["venv", "pip"]


def test_emptying_a_cache_takes_the_link_and_leaves_the_shared_environment(tmp_path: Path) -> None:
    uv, shelf = Uv(), tmp_path / "shelf"
    home, _ = pulled(tmp_path / "a", shelf, uv)
    assert cache.clear(tmp_path / "a") == 1
    assert (home / "lib" / "module.py").exists()
    _, said = pulled(tmp_path / "a", shelf, uv)
    # A cold start again, though nothing is built.
    runs = f"(runs on this machine's Python {platform.python_version()}, as local recipe "
    assert said[0].startswith(f"Pulling image {IMAGE} {runs}") and uv.commands == ["venv", "pip"]


def test_a_killed_build_of_a_shared_environment_is_begun_again(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    with pytest.raises(KeyboardInterrupt):
        pulled(tmp_path / "a", shelf, Uv(killed_at=2))
    uv = Uv()
    home, _ = pulled(tmp_path / "a", shelf, uv)
    assert uv.commands == ["venv", "pip"] and (home / "ready").exists()


def test_a_smaller_environment_is_preferred_and_another_serves_where_it_can_not_be_had(tmp_path: Path) -> None:
    class Offline(Uv):
        """Reaches no index but PyPI."""

        def __call__(self, command: Sequence[str]) -> None:
            if "--torch-backend" in command:
                self.commands.append("refused")
                raise OSError("dns error")
            super().__call__(command)
            if "--overrides" in command:
                overrides = Path(command[command.index("--overrides") + 1])
                self.left_out = overrides.read_text().split("\n")
                packages = overrides.parent / "lib" / "python3.11" / "site-packages"
                for name in ("libcudnn.so.9", "libcudnn_adv.so.9"):
                    (packages / "nvidia/cudnn/lib").mkdir(parents=True, exist_ok=True)
                    (packages / "nvidia/cudnn/lib" / name).touch()

    recipe = recipe_for("us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:latest")
    assert recipe and recipe.preferred == ("--torch-backend", "cpu")
    offline, online = Offline(), Uv()
    home, said = pulled(tmp_path / "a", tmp_path / "offline", offline, recipe)
    assert [path.name for path in home.glob("lib/python*/site-packages/nvidia/cudnn/lib/*")] == ["libcudnn.so.9"]
    assert "triton ; sys_platform == 'none'" in offline.left_out
    assert offline.commands == ["venv", "refused", "pip"] and any("can't be had" in line for line in said)
    pulled(tmp_path / "a", tmp_path / "online", online, recipe, f"{IMAGE}-other")
    assert online.commands == ["venv", "pip"]


@pytest.mark.parametrize(("recipe", "linked"), [(HEAVY, True), (LIGHT, False)])
def test_on_another_file_system_only_a_shared_image_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: Recipe, linked: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("cross-device link")

    home, _ = pulled(tmp_path / "a", tmp_path / "shelf", Uv(), recipe)
    monkeypatch.setattr(os, "link", refuse)
    target = tmp_path / "run"
    cache.copied(home, target, lasting=recipe.shared)
    assert (target / "lib" / "module.py").is_symlink() is linked
    assert (target / "lib" / "module.py").read_text() == "heavy = True\n"
    assert (target / "bin" / "torchrun").read_text() == f"#!{target}/bin/python\n"
    assert not (target / "ready").exists()


def test_copies_have_the_image_s_own_bytecode_and_go_without_it(tmp_path: Path) -> None:
    home, _ = pulled(tmp_path / "a", tmp_path / "shelf", Uv())
    bytecode = home / "lib" / "__pycache__"
    bytecode.mkdir()
    (bytecode / "module.cpython-311.pyc").touch()
    first, second, of_first = (tmp_path / name for name in ("first", "second", "of-first"))
    for image, copy in ((home, first), (home, second), (first, of_first)):
        cache.copied(image, copy, lasting=True)
    assert {(copy / "lib" / "__pycache__").readlink() for copy in (first, second, of_first)} == {bytecode}
    assert len({(copy / "lib" / "__pycache__").lstat().st_ino for copy in (first, second, of_first)}) == 1
    cache.remove(first)
    assert [*bytecode.iterdir()] and [*(second / "lib" / "__pycache__").iterdir()]


def test_the_environment_of_experiments_has_the_sdk_that_packages_here_ask_for() -> None:
    """`from_local_script(enable_autolog=True)` asks for the version of the SDK that packs; it is there already."""
    recipe = recipe_for("us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-5:latest")
    assert recipe and (recipe.name, recipe.shared) == ("experiments", True)
    version = importlib.metadata.version("google-cloud-aiplatform")
    assert f"google-cloud-aiplatform[autologging]=={version}" in recipe.requirements


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest", "scikit_learn"),
        ("europe-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-0:latest", "scikit_learn"),
        ("gcr.io/cloud-aiplatform/training/scikit-learn-cpu.0-23:latest", "scikit_learn"),
        ("python:3.10", "python"),
        ("docker.io/library/python:3.12-slim", "python"),
        ("gcr.io/mine/python:3.10", None),
    ],
)
def test_recipes_stand_for_images(image: str, name: str | None) -> None:
    recipe = recipe_for(image)
    assert (recipe.name if recipe else None) == name


# --- What jobs of a pool bring is installed once for those that come soon after each other (B4, N4).


@dataclass
class Pool:
    """A pool's image folder with one image, and what was installed there."""

    folder: Path
    installed: list[Path] = field(default_factory=list)
    broken: bool = False

    def __post_init__(self) -> None:
        self.image = self.folder / "python-3"
        (self.image / "bin").mkdir(parents=True)
        (self.image / "bin" / "python").write_text("an interpreter")
        self.package = self.brought("digits.tar.gz", "one")

    def brought(self, name: str, content: str) -> Path:
        file = self.folder / content / name
        file.parent.mkdir()
        file.write_text(content)
        return file

    def install(self, environment: Path) -> None:
        self.installed.append(environment)
        (environment / "bin" / "digits").write_text(f"#!{environment}/bin/python")
        if self.broken:
            raise InterruptedError

    def job(self, name: str, *brought: Path, later: float = 0.0) -> bool:
        """A job's environment made; whether its packages were to be installed."""
        now = (self.folder / "one" / "digits.tar.gz").stat().st_mtime + later
        target, brought = self.folder / "jobs" / name, brought or (self.package,)
        return packages.filled(
            self.folder, self.image, brought, target, self.install, lambda: None, lasting=False, now=now
        )


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)


def test_the_next_job_with_the_same_packages_gets_a_copy_of_its_own(pool: Pool) -> None:
    assert pool.job("a", later=1) and not pool.job("b", later=2)
    for name in ("a", "b"):
        home = pool.folder / "jobs" / name
        assert (home / "bin" / "digits").read_text() == f"#!{home}/bin/python", "scripts name the copy"
        assert not (home / cache.READY).exists()
    (pool.folder / "jobs" / "a" / "bin" / "digits").unlink()
    assert (pool.folder / "jobs" / "b" / "bin" / "digits").exists()
    assert not (pool.image / "bin" / "digits").exists()


def test_jobs_that_come_at_once_wait_for_the_first(pool: Pool) -> None:
    with ThreadPoolExecutor(4) as jobs:
        began = list(jobs.map(lambda number: pool.job(str(number)), range(4)))
    assert sorted(began) == [False, False, False, True] and len(pool.installed) == 1


def test_other_contents_under_the_same_name_are_installed(pool: Pool) -> None:
    assert pool.job("a", later=1)
    assert pool.job("b", pool.brought("digits.tar.gz", "two"), later=2)


def test_what_was_installed_long_ago_is_installed_anew(pool: Pool) -> None:
    assert pool.job("a", later=1)
    assert pool.job("b", later=packages.FRESH_S + 60)


def test_what_was_broken_off_is_begun_again(pool: Pool) -> None:
    pool.broken = True
    with pytest.raises(InterruptedError):
        pool.job("a", later=1)
    pool.broken = False
    assert pool.job("b", later=2)
