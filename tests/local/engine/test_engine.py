"""Which engine is used: installed, else the official release, else built; each one only when it serves."""

from pathlib import Path

import pytest

from local.engine.engine import Engine, ensure
from local.engine.errors import EngineError, ReleaseUnavailableError
from local.engine.version import PINNED

from .conftest import PULUMI, Machine, Vendor

PROGRAMS = {"pulumi/pulumi": PULUMI.format(version=PINNED), "pulumi/pulumi-language-python": "#!/bin/sh\n"}


def quiet(line: str) -> None:
    assert line


def test_an_installed_engine_is_used_before_anything_is_asked(machine: Machine, vendor: Vendor) -> None:
    machine.install_pulumi("3.272.0")
    engine = ensure(quiet, environ=machine.environ, releases=vendor.url)
    assert engine == Engine(machine.bin, "3.272.0", "installed")
    assert vendor.asked == []
    assert not machine.cache.exists()


def test_the_release_is_used_when_what_is_installed_is_too_old_and_that_is_said(
    machine: Machine, vendor: Vendor
) -> None:
    machine.install_pulumi("3.100.0")
    vendor.publish(PROGRAMS)
    lines: list[str] = []
    engine = ensure(lines.append, environ=machine.environ, releases=vendor.url)
    assert (engine.version, engine.source) == (str(PINNED), "release")
    assert "3.100.0, older than 3.259.0" in lines[0]
    assert (engine.bin / "pulumi").exists()


def test_it_is_built_when_there_is_no_release_and_that_is_said(machine: Machine, nowhere: str) -> None:
    machine.install_go()
    lines: list[str] = []
    engine = ensure(lines.append, environ=machine.environ, releases=nowhere)
    assert engine.source == "built"
    assert sorted(path.name for path in engine.bin.iterdir()) == [
        "complete.json",
        "pulumi",
        "pulumi-language-python",
        "pulumi-language-python-exec",
        "pulumi-language-python-host",
    ]
    assert any(line.startswith("no official release: ") and "building from source" in line for line in lines)
    assert any(line.startswith("building the Pulumi engine v3.259.0") for line in lines)


def test_the_second_time_nothing_is_asked_or_built(machine: Machine, vendor: Vendor) -> None:
    machine.install_go()
    first = ensure(quiet, environ=machine.environ, releases=vendor.url)
    asked, built = list(vendor.asked), machine.builds()
    assert len(built) == 2
    assert ensure(pytest.fail, environ=machine.environ, releases=vendor.url) == first
    assert (vendor.asked, machine.builds()) == (asked, built)


@pytest.mark.parametrize("choice", ["installed", "release", "build"])
def test_one_source_can_be_forced(machine: Machine, vendor: Vendor, choice: str) -> None:
    machine.install_pulumi("3.272.0")
    machine.install_go()
    vendor.publish(PROGRAMS)
    for _ in range(2):
        engine = ensure(quiet, environ=machine.environ | {"SLIPWAY_ENGINE": choice}, releases=vendor.url)
        assert engine.source == {"installed": "installed", "release": "release", "build": "built"}[choice]


def test_a_forced_source_that_fails_is_not_replaced_by_another(machine: Machine, nowhere: str) -> None:
    machine.install_go()
    with pytest.raises(EngineError, match="there is no pulumi on PATH"):
        ensure(quiet, environ=machine.environ | {"SLIPWAY_ENGINE": "installed"}, releases=nowhere)
    with pytest.raises(ReleaseUnavailableError, match="not reachable"):
        ensure(quiet, environ=machine.environ | {"SLIPWAY_ENGINE": "release"}, releases=nowhere)
    assert machine.builds() == []


def test_an_unknown_source_is_refused(machine: Machine) -> None:
    with pytest.raises(EngineError, match="it can be installed, release, build"):
        ensure(quiet, environ=machine.environ | {"SLIPWAY_ENGINE": "brew"})


def test_a_forged_release_stops_instead_of_building(machine: Machine, vendor: Vendor) -> None:
    machine.install_go()
    vendor.publish(PROGRAMS, digest="e" * 64)
    with pytest.raises(EngineError, match="is not what Pulumi released"):
        ensure(quiet, environ=machine.environ, releases=vendor.url)
    assert machine.builds() == []
    assert (machine.finished(), machine.partials()) == ([], [])


@pytest.mark.parametrize(
    ("programs", "why"),
    [
        ({"pulumi/pulumi": PULUMI.format(version="3.1.0"), "pulumi/pulumi-language-python": ""}, "says it is 3.1.0"),
        ({"pulumi/pulumi": "garbage", "pulumi/pulumi-language-python": ""}, "does not run on this machine"),
        ({"pulumi/pulumi": PULUMI.format(version=PINNED)}, "there is no pulumi-language-python"),
    ],
)
def test_an_engine_that_does_not_work_never_gets_into_the_cache(
    machine: Machine, vendor: Vendor, programs: dict[str, str], why: str
) -> None:
    vendor.publish(programs)
    with pytest.raises(EngineError, match=why):
        ensure(quiet, environ=machine.environ, releases=vendor.url)
    assert (machine.finished(), machine.partials()) == ([], [])


def test_no_release_and_no_go_says_what_to_install(machine: Machine, nowhere: str) -> None:
    with pytest.raises(EngineError) as caught:
        ensure(quiet, environ=machine.environ, releases=nowhere)
    assert str(caught.value).startswith("error: the Pulumi engine")
    assert "install Go" in caught.value.fix
    assert machine.partials() == []


def test_go_that_fails_leaves_nothing_and_the_next_try_works(machine: Machine, nowhere: str) -> None:
    machine.install_go(fail="link: no space left on device")
    with pytest.raises(EngineError, match="the disk is full"):
        ensure(quiet, environ=machine.environ, releases=nowhere)
    assert (machine.finished(), machine.partials()) == ([], [])
    del machine.environ["FAKE_GO_FAIL"]
    assert ensure(quiet, environ=machine.environ, releases=nowhere).source == "built"


def test_a_cache_that_is_a_file_is_said(machine: Machine, nowhere: str) -> None:
    machine.cache.write_text("")
    with pytest.raises(EngineError, match=r"File exists|Not a directory"):
        ensure(quiet, environ=machine.environ, releases=nowhere)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs a device that is always full")
def test_a_full_disk_is_said(machine: Machine, vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    name = vendor.publish(PROGRAMS)
    real = Path.open

    def full(self: Path, *args: object, **kwargs: object) -> object:
        # The kernel's own ENOSPC, from a device made for it.
        return real(Path("/dev/full") if self.name == name else self, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(EngineError, match="the disk is full") as caught:
        ensure(quiet, environ=machine.environ, releases=vendor.url)
    assert "SLIPWAY_CACHE" in caught.value.fix
    assert machine.partials() == []
