"""The official release: given up soon when out of reach, never used when it is not what was released."""

from pathlib import Path

import pytest

from local.engine.errors import EngineError, ReleaseUnavailableError
from local.engine.release import archive_name, download, published_digest
from local.engine.version import PINNED, Version

from .conftest import PULUMI, Vendor

PROGRAMS = {"pulumi/pulumi": PULUMI.format(version=PINNED), "pulumi/pulumi-language-python": "#!/bin/sh\n"}


def quiet(line: str) -> None:
    assert line


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "pulumi-v3.259.0-linux-x64.tar.gz"),
        ("Linux", "aarch64", "pulumi-v3.259.0-linux-arm64.tar.gz"),
        ("Darwin", "arm64", "pulumi-v3.259.0-darwin-arm64.tar.gz"),
        ("Darwin", "x86_64", "pulumi-v3.259.0-darwin-x64.tar.gz"),
    ],
)
def test_each_machine_has_its_archive(system: str, machine: str, name: str) -> None:
    assert archive_name(Version(3, 259, 0), system, machine) == name


@pytest.mark.parametrize(("system", "machine"), [("Linux", "riscv64"), ("Windows", "AMD64")])
def test_a_machine_without_archive_is_told_so(system: str, machine: str) -> None:
    with pytest.raises(ReleaseUnavailableError, match=f"none for {system} on {machine}"):
        archive_name(PINNED, system, machine)


def test_the_digest_is_that_of_exactly_this_archive() -> None:
    listed = f"{'a' * 64}  x.tar.gz\n{'B' * 64} *y.tar.gz\nshort  z.tar.gz\n<html>\n"
    assert published_digest(listed, "x.tar.gz") == "a" * 64
    assert published_digest(listed, "y.tar.gz") == "b" * 64
    assert published_digest(listed, "z.tar.gz") is None
    assert published_digest(listed, "tar.gz") is None


def test_the_release_is_unpacked_ready_to_run(vendor: Vendor, tmp_path: Path) -> None:
    vendor.publish(PROGRAMS)
    lines: list[str] = []
    download(tmp_path, PINNED, lines.append, vendor.url)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pulumi", "pulumi-language-python"]
    assert all(path.stat().st_mode & 0o111 for path in tmp_path.iterdir())
    assert any(line.startswith("downloading pulumi-v") and line.endswith(" MB") for line in lines)


def test_an_archive_with_another_digest_is_refused_and_not_unpacked(vendor: Vendor, tmp_path: Path) -> None:
    vendor.publish(PROGRAMS, digest="f" * 64)
    with pytest.raises(EngineError, match="is not what Pulumi released") as caught:
        download(tmp_path, PINNED, quiet, vendor.url)
    assert not isinstance(caught.value, ReleaseUnavailableError)
    assert not (tmp_path / "pulumi").exists()


def test_nothing_in_an_archive_leaves_the_folder(vendor: Vendor, tmp_path: Path) -> None:
    into = tmp_path / "a" / "b"
    into.mkdir(parents=True)
    vendor.publish({**PROGRAMS, "../evil": "x", "pulumi/../../evil": "x", "/etc/evil": "x", "pulumi/..": "x"})
    download(into, PINNED, quiet, vendor.url)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "pulumi", "pulumi-language-python"]


def test_nothing_listening_is_given_up(nowhere: str, tmp_path: Path) -> None:
    with pytest.raises(ReleaseUnavailableError, match="not reachable"):
        download(tmp_path, PINNED, quiet, nowhere)


def test_no_answer_is_given_up(vendor: Vendor, tmp_path: Path) -> None:
    vendor.silent.set()
    with pytest.raises(ReleaseUnavailableError, match=r"no answer within 0\.2 s|timed out"):
        download(tmp_path, PINNED, quiet, vendor.url, patience_s=0.2)


def test_a_version_that_was_never_released_is_said(vendor: Vendor, tmp_path: Path) -> None:
    with pytest.raises(ReleaseUnavailableError, match="answers 404"):
        download(tmp_path, PINNED, quiet, vendor.url)


def test_a_sign_in_page_in_place_of_checksums_is_no_release(vendor: Vendor, tmp_path: Path) -> None:
    vendor.files[f"pulumi-{PINNED}-checksums.txt"] = b"<html>please sign in</html>"
    with pytest.raises(ReleaseUnavailableError, match="does not name pulumi-v"):
        download(tmp_path, PINNED, quiet, vendor.url)


def test_a_download_that_breaks_off_is_no_release(vendor: Vendor, tmp_path: Path) -> None:
    vendor.cut.add(vendor.publish(PROGRAMS))
    with pytest.raises(ReleaseUnavailableError, match="broke off"):
        download(tmp_path, PINNED, quiet, vendor.url)
