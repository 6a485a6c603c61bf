"""Go missing, too old, or failing: what happened, why, and what to do."""

import os
from pathlib import Path

import pytest

from local.engine import gotool
from local.engine.errors import EngineError

from .conftest import Machine


def refusal(machine: Machine) -> EngineError:
    with pytest.raises(EngineError) as caught:
        gotool.find(machine.environ, "1.25.11")
    return caught.value


def test_a_missing_go_is_said(machine: Machine) -> None:
    error = refusal(machine)
    assert "no `go` on PATH" in error.why
    assert "install Go" in error.fix


@pytest.mark.parametrize(
    ("version", "toolchain"), [("go1.20.14", "auto"), ("go1.25.10", "local"), ("go1.20", "local"), ("go1.9.7", "auto")]
)
def test_a_go_that_is_too_old_is_said_with_both_versions(machine: Machine, version: str, toolchain: str) -> None:
    machine.install_go(version=version, toolchain=toolchain)
    why = refusal(machine).why
    assert version in why
    assert "go1.25.11" in why


@pytest.mark.parametrize(
    ("version", "toolchain"),
    [("go1.25.11", "local"), ("go1.26.8", "local"), ("go1.21.0", "auto"), ("go1.100", "local")],
)
def test_a_go_that_serves_or_can_fetch_one_that_does_is_taken(machine: Machine, version: str, toolchain: str) -> None:
    machine.install_go(version=version, toolchain=toolchain)
    go = gotool.find(machine.environ, "1.25.11")
    assert go.program == machine.bin / "go"
    assert go.environ["GOWORK"] == "off"


@pytest.mark.parametrize(
    ("said", "why", "fix"),
    [
        ("link: write /c/x: no space left on device", "no space left on device", "GOCACHE"),
        ('go: m@v1: Get "https://p/m": dial tcp: lookup p: no such host', "is not reachable", "GOPROXY"),
        (
            'go: m@v1: Get "https://p/m": dial tcp 10.0.0.1:443: connect: connection refused',
            "is not reachable",
            "GOPROXY",
        ),
        ("go: m@v1: module lookup disabled by GOPROXY=off", "is not reachable", "GOPROXY"),
        ("go: m@v1: reading https://p/m.zip: 403 Forbidden", "does not serve", "another module proxy"),
        ("verifying m@v1: checksum mismatch\n\nSECURITY ERROR\nThis download does NOT match.", "pinned", "modcache"),
        ("go: go.mod requires go >= 1.25.11 (running go 1.24.0; GOTOOLCHAIN=local)", "too old", "install Go"),
        ("x: /usr/lib/go/compile: signal: killed", "out of memory", "free memory"),
        ("x.go:1: undefined: y", "go build failed: x.go:1: undefined: y", "install Pulumi"),
        ("", "no words, exit code 2", "install Pulumi"),
    ],
)
def test_what_go_says_is_put_into_words(said: str, why: str, fix: str) -> None:
    error = gotool.explain("build", 2, said)
    assert why in error.why
    assert fix in error.fix


def test_a_password_in_a_proxy_address_is_never_shown() -> None:
    error = gotool.explain("list", 1, 'go: Get "https://ada:s3cret@proxy.example/m": dial tcp: no such host')
    assert "s3cret" not in str(error)
    assert "https://***@proxy.example/m" in error.why


def test_progress_counts_modules_and_packages(machine: Machine, tmp_path: Path) -> None:
    machine.install_go()
    told: list[gotool.Tally] = []
    go = gotool.find(machine.environ, "1.25")
    with (tmp_path / "lock").open("w") as lock:
        tally = go.run(["list", "-deps", "example.com/a"], tmp_path, lock.fileno(), told.append)
    assert (tally.fetched, tally.named) == (1, 3)
    assert told[0] == gotool.Tally(0, 0, 0)


def test_go_is_ended_when_we_are_interrupted(machine: Machine, tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    machine.install_go(hold=str(hold))
    go = gotool.find(machine.environ, "1.25")

    def interrupt(tally: gotool.Tally) -> None:
        if machine.builds():
            raise KeyboardInterrupt

    with (tmp_path / "lock").open("w") as lock, pytest.raises(KeyboardInterrupt):
        go.run(["build", "-o", str(tmp_path / "out"), "example.com/a"], tmp_path, lock.fileno(), interrupt)
    pid = int(machine.log.read_text().split()[0])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
