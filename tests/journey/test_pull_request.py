"""`make review`: what is missing is said before anything is previewed. Its reviews: tests/end_to_end. # N14"""

from pathlib import Path

import pytest

from journey.pull_request import Repository, judged, preview
from slipway.errors import ConfigError, SlipwayError


def test_a_stack_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no stacks/Pulumi\.nosuch\.yaml"):
        preview(tmp_path, "nosuch", tmp_path / "events", {})


def test_without_the_engine(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pulumi is not on PATH"):
        judged(Repository(tmp_path, {"PATH": str(tmp_path)}), "main", ["local"], [])


@pytest.mark.parametrize(("stack", "fix"), [("local", "make demo"), ("dev", "pulumi stack select --create dev")])
def test_a_stack_that_the_backend_does_not_have(tmp_path: Path, stack: str, fix: str) -> None:
    engine, file = tmp_path / "pulumi", tmp_path / "stacks" / f"Pulumi.{stack}.yaml"
    engine.write_text(f"#!/bin/sh\necho \"error: no stack named '{stack}' found\" >&2\nexit 255\n")
    engine.chmod(0o755)
    file.parent.mkdir()
    file.write_text("config: {}\n")
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(SlipwayError) as said:
        preview(tmp_path, stack, work / "events", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert fix in said.value.render()
