"""docs/components.md: its program declares what the page says, without a stack file of ours. # D1 # D2 # D3"""

import re
import sys
from pathlib import Path

import pulumi
import pytest

import components
from components import catalog, persistent_resource
from tests.components.conftest import PROJECT, REGION, declared

PAGE = (Path(__file__).parents[2] / "docs" / "components.md").read_text("utf-8")
(PROGRAM,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_it_runs_under_pulumi_s_mocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (components, catalog, persistent_resource):  # by their names in a wheel
        monkeypatch.setitem(sys.modules, f"slipway.{module.__name__}", module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs" / "hello").mkdir(parents=True)
    (tmp_path / "jobs" / "hello" / "__init__.py").touch()
    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})
    asked = declared(lambda: exec(PROGRAM, {}))
    children = [f"{made.parent} {made.type.rpartition(':')[2]}" for made in asked if made.parent != "slipway-dev"]
    assert sorted(children) == ["hello BucketObject", "quota SQuotaPreference", "research-1 AiPersistentResource"]
