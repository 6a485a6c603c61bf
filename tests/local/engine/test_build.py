"""What is built is pinned, and its place in the cache changes with every pin."""

import re
import shutil
from pathlib import Path

import pytest

from local.engine import build
from local.engine.version import PINNED

SOURCES = Path(build.__file__).parent / "go"


def test_the_engine_built_is_the_pinned_one() -> None:
    assert f"github.com/pulumi/pulumi/pkg/v3 v{PINNED}\n" in (SOURCES / "engine" / "go.mod").read_text()


@pytest.mark.parametrize("module", ["engine", "language"])
def test_every_module_is_checksummed(module: str) -> None:
    wanted = re.findall(
        r"^\s*(?:require )?(\S+) (v\S+)(?: // indirect)?$", (SOURCES / module / "go.mod").read_text(), re.M
    )
    assert wanted
    sums = (SOURCES / module / "go.sum").read_text()
    replaced = "github.com/atotto/clipboard"
    assert [name for name, version in wanted if name != replaced and f"{name} {version}/go.mod h1:" not in sums] == []


def test_the_tools_file_names_what_is_built() -> None:
    for program in build.PROGRAMS:
        assert f'import _ "{program.package}"' in (SOURCES / program.module / "tools.go").read_text()


def test_a_build_uses_no_module_that_is_not_pinned() -> None:
    for program in build.PROGRAMS:
        assert "-mod=readonly" in build.flags(program)


@pytest.mark.parametrize("change", ["engine/go.sum", "language/go.mod"])
def test_another_pin_is_another_recipe(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build.recipe()
    assert re.fullmatch("[0-9a-f]{12}", before)
    shutil.copytree(SOURCES, tmp_path / "go")
    monkeypatch.setattr(build, "_SOURCES", tmp_path / "go")
    assert build.recipe() == before
    with (tmp_path / "go" / change).open("a") as file:
        file.write("// another\n")
    assert build.recipe() != before
