import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local import plugin
from local.plugin.installation import InstallError, install

_PYTHON = Path(sys.executable)


def _binary(folder: Path) -> Path:
    return folder / "pulumi-resource-gcp"


def test_the_local_plugin_lies_where_the_engine_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLIPWAY_GCP_PLUGIN", raising=False)
    folder = plugin.install(tmp_path / "home", _PYTHON)
    assert folder == tmp_path / "home" / "plugins" / "resource-gcp-v10.2.0"
    assert os.access(_binary(folder), os.X_OK)
    assert [one.name for one in folder.parent.iterdir()] == [folder.name]


def test_installing_again_changes_nothing(tmp_path: Path) -> None:
    first = _binary(install(tmp_path, _PYTHON, "")).stat()
    second = _binary(install(tmp_path, _PYTHON, "")).stat()
    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)


def test_several_at_once_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    pythons = [Path(f"/bin/python{number}") for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        (folder,) = set(pool.map(lambda python: install(tmp_path, python, ""), pythons))
    assert any(str(python) in _binary(folder).read_text() for python in pythons)
    assert [one.name for one in folder.parent.iterdir()] == [folder.name]


def test_another_python_takes_its_place(tmp_path: Path) -> None:
    install(tmp_path, Path("/old/bin/python"), "")
    assert str(_PYTHON) in _binary(install(tmp_path, _PYTHON, "")).read_text()


def test_a_half_made_installation_is_mended(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "resource-gcp-v10.2.0"
    folder.mkdir(parents=True)
    folder.with_name(f"{folder.name}.partial").touch()
    assert _binary(install(tmp_path, _PYTHON, "")).is_file()
    assert not folder.with_name(f"{folder.name}.partial").exists()


def test_paths_with_spaces_and_quotes_are_no_hindrance(tmp_path: Path) -> None:
    odd = tmp_path / "a 'b' $c"
    odd.mkdir()
    (odd / "python").symlink_to(_PYTHON)
    text = _binary(install(tmp_path, odd / "python", "")).read_text()
    shown = text.replace("exec ", "printf '%s|' ", 1)
    said = subprocess.run(["sh", "-c", shown], capture_output=True, text=True, check=True).stdout
    assert said.split("|")[0] == str(odd / "python")


def test_an_official_plugin_is_linked(tmp_path: Path) -> None:
    official = tmp_path / "official"
    official.write_text("#!/bin/sh\n")
    official.chmod(0o755)
    folder = install(tmp_path / "home", _PYTHON, str(official))
    assert _binary(folder).readlink() == official
    assert "-m local.plugin" in _binary(install(tmp_path / "home", _PYTHON, "")).read_text()


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_a_path_that_is_no_plugin_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InstallError, match="fix: give the path of pulumi-resource-gcp"):
        install(tmp_path / "home", _PYTHON, str(tmp_path / name))


def test_auto_leaves_the_choice_to_the_engine(tmp_path: Path) -> None:
    folder = install(tmp_path, _PYTHON, "")
    assert install(tmp_path, _PYTHON, "auto") == folder
    assert not folder.exists()


def test_auto_keeps_an_official_plugin_that_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "resource-gcp-v10.2.0"
    folder.mkdir(parents=True)
    _binary(folder).write_bytes(b"\x7fELF")
    _binary(folder).chmod(0o755)
    install(tmp_path, _PYTHON, "auto")
    assert _binary(folder).read_bytes() == b"\x7fELF"


def test_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "local.plugin.installation", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == tmp_path / "plugins" / "resource-gcp-v10.2.0"
