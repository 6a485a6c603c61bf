"""Archives of code: what they hold, within bounds. # N11 # N25"""

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from slipway.authoring.packages import archive
from slipway.authoring.packages.archive import unpack
from slipway.base.errors import ConfigError

FILES = {"project/train.py": b"print(1)\n", "project/conf/base.yaml": b"lr: 1\n"}


def zipped(path: Path, files: Mapping[str, bytes], modes: Mapping[str, int] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o644) << 16
            made.writestr(info, content, zipfile.ZIP_DEFLATED)
    return path


def tarred(path: Path, files: Mapping[str, bytes], links: Mapping[str, str] | None = None, kind: bytes = b"2") -> Path:
    suffix = path.suffix.removeprefix(".").replace("tgz", "gz")
    with tarfile.open(path, f"w:{suffix if suffix != 'tar' else ''}") as made:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755 if name.endswith(".sh") else 0o644
            made.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            made.addfile(info)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


@pytest.fixture
def into(tmp_path: Path) -> Path:
    made = tmp_path / "into"
    made.mkdir()
    return made


@pytest.mark.parametrize("ending", ["zip", "tar", "tgz", "tar.gz", "tar.bz2", "tar.xz"])
def test_each_form_is_unpacked_to_its_only_top_folder(tmp_path: Path, into: Path, ending: str) -> None:
    made = (zipped if ending == "zip" else tarred)(tmp_path / f"code.{ending}", FILES)
    folder = unpack(made, into)
    assert folder == into / "project" and names(folder) == ["conf/base.yaml", "train.py"]


def test_several_tops_and_a_package_alone_are_not_unwrapped(tmp_path: Path, into: Path) -> None:
    assert unpack(zipped(tmp_path / "a.zip", {"a.py": b"", "lib/b.py": b""}), into) == into
    (tmp_path / "other").mkdir()
    package = zipped(tmp_path / "b.zip", {"digits/__init__.py": b"", "digits/task.py": b""})
    assert unpack(package, tmp_path / "other") == tmp_path / "other", "python -m digits.task finds it"


def test_what_windows_and_macos_write_is_read(tmp_path: Path, into: Path) -> None:
    """Backslashes, `__MACOSX` and `._train.py` (python/cpython 91036, ray 28026)."""
    files = {r"project\train.py": b"1", "__MACOSX/project/._train.py": b"2", "project/._train.py": b"3"}
    assert names(unpack(zipped(tmp_path / "a.zip", files), into)) == ["train.py"]


def test_modes_and_links_are_kept(tmp_path: Path, into: Path) -> None:
    """A link of a zip became a text with its target (alpamon 434)."""
    files = {"p/run.sh": b"echo\n", "p/conf/base.yaml": b"lr: 1\n", "p/config.yaml": b"conf/base.yaml"}
    modes = {"p/config.yaml": stat.S_IFLNK | 0o777, "p/run.sh": stat.S_IFREG | 0o755}
    folder = unpack(zipped(tmp_path / "a.zip", files, modes), into)
    assert (folder / "config.yaml").read_bytes() == b"lr: 1\n" and os.access(folder / "run.sh", os.X_OK)


def test_a_hard_link_is_its_file(tmp_path: Path, into: Path) -> None:
    made = tarred(tmp_path / "a.tar", {"p/lib/a.py": b"1"}, {"p/copy/a.py": "p/lib/a.py"}, kind=tarfile.LNKTYPE)
    assert (unpack(made, into) / "copy" / "a.py").read_bytes() == b"1"


@pytest.mark.parametrize(
    "name", ["../out.py", "/tmp/out.py", "a/../../out.py", "C:/out.py", r"..\out.py", r"C:\Users\ada\out.py"]
)
def test_no_path_leads_out(tmp_path: Path, into: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="can't unpack") as error:
        unpack(zipped(tmp_path / "a.zip", {"train.py": b"", name: b""}), into)
    assert "leads out of its folder" in error.value.why and not (tmp_path / "out.py").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc", "../../../root/.ssh/id_rsa"])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_no_link_leads_out(tmp_path: Path, into: Path, target: str, kind: bytes) -> None:
    with pytest.raises(ConfigError, match="can't unpack") as error:
        unpack(tarred(tmp_path / "a.tar", {"p/train.py": b""}, {"p/x": target}, kind), into)
    assert "leads out, to" in error.value.why


def test_no_file_is_written_through_a_link(tmp_path: Path, into: Path) -> None:
    """A link first, then a file below it."""
    (tmp_path / "victim").mkdir()
    with tarfile.open(tmp_path / "a.tar", "w") as made:
        for name, kind, target in (("p/up", b"2", ".."), ("p/up/up", b"2", ".."), ("p/up/up/victim/x", b"0", "")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            made.addfile(info)
    with pytest.raises(ConfigError, match="can't unpack"):
        unpack(tmp_path / "a.tar", into)
    assert not list((tmp_path / "victim").iterdir())


def test_settings_of_git_are_left_out(tmp_path: Path, into: Path) -> None:
    """`core.fsmonitor` of a repository is a program that git runs."""
    files = {"p/train.py": b"", "p/.git/config": b"[core]\nfsmonitor = evil", "p/lib/.GIT/hooks/x": b""}
    assert names(unpack(zipped(tmp_path / "a.zip", files), into)) == ["train.py"]


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "tar.xz"])
def test_a_bomb_is_refused(tmp_path: Path, into: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED", 1_000_000)
    made = (zipped if ending == "zip" else tarred)(tmp_path / f"a.{ending}", {"p/zeros": bytes(3_000_000)})
    assert made.stat().st_size < 20_000
    with pytest.raises(ConfigError, match="can't unpack") as error:
        unpack(made, into)
    assert "unpacks to more than" in error.value.why
    assert sum(path.stat().st_size for path in into.rglob("*") if path.is_file()) <= 1_000_001


def test_many_small_files_are_bounded_too(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 10)
    with pytest.raises(ConfigError, match="can't unpack"):
        unpack(zipped(tmp_path / "a.zip", {f"p/{number}": b"" for number in range(11)}), into)


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tar.xz"])
@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x1f\x8b\x08\x00half"])
def test_a_damaged_one_is_told(tmp_path: Path, into: Path, ending: str, content: bytes) -> None:
    (tmp_path / f"a.{ending}").write_bytes(content)
    with pytest.raises(ConfigError, match="can't unpack") as error:
        unpack(tmp_path / f"a.{ending}", into)
    assert error.value.why and str(tmp_path) not in str(error.value)


def test_a_fifo_and_two_of_a_name_are_told(tmp_path: Path, into: Path) -> None:
    with pytest.raises(ConfigError) as error:
        unpack(tarred(tmp_path / "a.tar", {"p/a.py": b""}, {"p/pipe": ""}, tarfile.FIFOTYPE), into)
    assert "neither a file nor a link" in error.value.why
    with pytest.raises(ConfigError, match="can't unpack"):
        unpack(zipped(tmp_path / "b.zip", {"p/a": b"", "p/a/b": b""}), into)
