"""`make review`: what is missing is said before anything is previewed. Its reviews: tests/end_to_end. # N14"""

from pathlib import Path

import pytest

from journey.pull_request import Repository, judged, preview
from slipway.errors import ConfigError


def test_a_stack_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no stacks/Pulumi\.nosuch\.yaml"):
        preview(tmp_path, "nosuch", tmp_path / "events", {})


def test_without_the_engine(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pulumi is not on PATH"):
        judged(Repository(tmp_path, {"PATH": str(tmp_path)}), "main", ["local"], [])
