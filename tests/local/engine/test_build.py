"""What is built is pinned, and its place in the cache changes with every pin."""

import io
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from local.engine import build, gotool
from local.engine.edited_module import WORDS_WHEN_ASKED, mod_file
from local.engine.errors import EngineError, ReleaseUnavailableError
from local.engine.find import Search, installed, version_of
from local.engine.progress import Printer
from local.engine.release import archive_name, download, published_digest
from local.engine.version import PINNED, Version, parse

from .conftest import PULUMI, Machine, Vendor

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


@pytest.mark.parametrize("change", ["engine/go.sum", "language/go.mod"])
def test_another_pin_is_another_recipe(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build.recipe()
    assert re.fullmatch("[0-9a-f]{12}", before)
    shutil.copytree(SOURCES, tmp_path / "go")
    monkeypatch.setattr(build, "SOURCES", tmp_path / "go")
    assert build.recipe() == before
    with (tmp_path / "go" / change).open("a") as file:
        file.write("// another\n")
    assert build.recipe() != before


def test_other_edits_are_another_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    before = build.recipe()
    *others, engine = build.PROGRAMS
    monkeypatch.setattr(build, "PROGRAMS", (*others, replace(engine, edited=())))
    assert build.recipe() != before


def test_an_edited_module_is_a_copy_and_the_others_stay(machine: Machine, tmp_path: Path) -> None:
    machine.install_go()
    source = Path(machine.environ["FAKE_GO_EDITED"])
    before = {path: path.read_text() for path in source.rglob("*.go")}
    for folder in (source, *before):
        folder.chmod(folder.stat().st_mode & ~0o222)  # as Go keeps its modules
    go = gotool.find(machine.environ, "1.25")
    work = tmp_path / "her work"
    work.mkdir()
    written = mod_file(go, WORDS_WHEN_ASKED, SOURCES / "engine", work).read_text()
    assert written.startswith((SOURCES / "engine" / "go.mod").read_text())
    for number, module in enumerate(WORDS_WHEN_ASKED):
        copy = work / f"edited-{number}"
        assert f'replace {module.name} => "{copy}"\n' in written
        assert (copy / "go.mod").read_text() == f"module {module.name}\n"
        assert "func init()" not in "".join(path.read_text() for path in copy.rglob("*.go"))
    assert {path: path.read_text() for path in source.rglob("*.go")} == before


def test_a_module_with_other_text_is_not_built(machine: Machine, tmp_path: Path) -> None:
    machine.install_go()
    source = Path(machine.environ["FAKE_GO_EDITED"])
    (source / "frequency" / "frequency.go").write_text("package frequency\n")
    with pytest.raises(EngineError, match=r"frequency/frequency.go of the module .* lacks the text that is edited"):
        WORDS_WHEN_ASKED[0].copy(source, tmp_path / "copy")


# --- Versions of the engine.


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("v3.259.0\n", Version(3, 259, 0)),
        ("v3.260.0-alpha.x1a2b3c", Version(3, 260, 0, "alpha.x1a2b3c")),
        ("v3.260.1+dirty", Version(3, 260, 1)),
        *((no_version, None) for no_version in ("", "v3.259", "v3.259.0 (beta)", "3.259.0\n3.260.0")),
    ],
)
def test_what_pulumi_prints_is_understood_and_nothing_else(printed: str, version: Version | None) -> None:
    assert parse(printed) == version


@pytest.mark.parametrize(
    ("text", "serves"),
    [("3.258.9", False), ("3.259.0", True), ("3.1000.0", True), ("4.0.0", True), ("3.259.0-rc.1", False)],
)
def test_the_pinned_version_is_the_oldest_that_serves(text: str, serves: bool) -> None:
    version = parse(text)
    assert version is not None
    assert version.at_least(PINNED) is serves


# --- Progress: one living line on a terminal, few lines in a log.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_per_step_rewritten_in_place() -> None:
    screen = Terminal()
    printer = Printer(screen)
    for line in ("fetching · 1 s", "fetching · 2 s", "building · 1 s"):
        printer(line)
    printer.close()
    assert screen.getvalue() == "\r\x1b[Kfetching · 1 s\r\x1b[Kfetching · 2 s\n\r\x1b[Kbuilding · 1 s\n"


def test_a_log_shows_each_step_at_once_and_then_every_ten_seconds() -> None:
    log, now = io.StringIO(), 0.0
    printer = Printer(log, clock=lambda: now)
    for second in range(25):
        now = float(second)
        printer(f"building · {second} s")
    printer("unpacking")
    printer.close()
    assert log.getvalue().splitlines() == ["building · 0 s", "building · 10 s", "building · 20 s", "unpacking"]


# --- An installed engine counts when it is new enough and can run Python programs.


def search(machine: Machine) -> Search:
    return installed(machine.environ, PINNED, besides=machine.cache)


def test_one_without_language_host_can_not_run_python_and_is_refused(machine: Machine) -> None:
    machine.install_pulumi("3.272.1", host=False)
    (refused,) = search(machine).refused
    assert "no pulumi-language-python" in refused


def test_the_host_may_lie_where_a_link_leads(machine: Machine, tmp_path: Path) -> None:
    cellar = tmp_path / "cellar"
    real = machine.add("pulumi", PULUMI.format(version="3.272.1"), cellar)
    machine.add("pulumi-language-python", "#!/bin/sh\n", cellar)
    (machine.bin / "pulumi").symlink_to(real)
    found = search(machine).found
    assert found is not None
    assert found.bin == machine.bin


def test_a_later_one_on_the_path_is_taken_when_the_first_is_too_old(machine: Machine, tmp_path: Path) -> None:
    machine.install_pulumi("3.1.0")
    machine.add("pulumi", PULUMI.format(version="3.260.0"), tmp_path / "later")
    machine.add("pulumi-language-python", "#!/bin/sh\n", tmp_path / "later")
    machine.environ["PATH"] += f":{tmp_path / 'later'}"
    result = search(machine)
    assert result.found is not None
    assert (result.found.bin, result.found.version) == (tmp_path / "later", Version(3, 260, 0))
    assert result.refused == (f"{machine.bin / 'pulumi'} is 3.1.0, older than {PINNED}",)


def test_what_lies_in_our_own_cache_is_not_installed(machine: Machine) -> None:
    folder = machine.cache / "engine" / "3.259.0" / "built"
    machine.add("pulumi", PULUMI.format(version="3.259.0"), folder)
    machine.add("pulumi-language-python", "#!/bin/sh\n", folder)
    machine.environ["PATH"] = str(folder)
    assert search(machine) == Search(None, ())


def test_a_pulumi_that_fails_or_babbles_is_refused_in_words(machine: Machine) -> None:
    machine.add("pulumi", "#!/bin/sh\necho v3.272.1; exit 3\n")
    assert version_of(machine.bin / "pulumi", machine.environ) is None
    assert search(machine).refused == (f"{machine.bin / 'pulumi'} does not tell its version",)
    machine.add("pulumi", "not a program")
    assert version_of(machine.bin / "pulumi", machine.environ) is None


# --- The official release: given up soon when out of reach, never used when it is not what was released.


PROGRAMS = {"pulumi/pulumi": PULUMI.format(version=PINNED), "pulumi/pulumi-language-python": "#!/bin/sh\n"}


def quiet(line: str) -> None:
    assert line


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "pulumi-v3.259.0-linux-x64.tar.gz"),
        ("Linux", "aarch64", "pulumi-v3.259.0-linux-arm64.tar.gz"),
        ("Darwin", "arm64", "pulumi-v3.259.0-darwin-arm64.tar.gz"),
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


def test_nothing_in_an_archive_leaves_the_folder(vendor: Vendor, tmp_path: Path) -> None:
    into = tmp_path / "a" / "b"
    into.mkdir(parents=True)
    vendor.publish({**PROGRAMS, "../evil": "x", "pulumi/../../evil": "x", "/etc/evil": "x", "pulumi/..": "x"})
    download(into, PINNED, quiet, vendor.url)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "pulumi", "pulumi-language-python"]


def test_no_answer_is_given_up(vendor: Vendor, tmp_path: Path) -> None:
    vendor.silent.set()
    with pytest.raises(ReleaseUnavailableError, match="timed out"):
        download(tmp_path, PINNED, quiet, vendor.url, patience_s=0.2)


def test_a_sign_in_page_in_place_of_checksums_is_no_release(vendor: Vendor, tmp_path: Path) -> None:
    vendor.files[f"pulumi-{PINNED}-checksums.txt"] = b"<html>please sign in</html>"
    with pytest.raises(ReleaseUnavailableError, match="does not name pulumi-v"):
        download(tmp_path, PINNED, quiet, vendor.url)


def test_a_download_that_breaks_off_is_no_release(vendor: Vendor, tmp_path: Path) -> None:
    vendor.cut.add(vendor.publish(PROGRAMS))
    with pytest.raises(ReleaseUnavailableError, match="broke off"):
        download(tmp_path, PINNED, quiet, vendor.url)
