"""A program that a test imports, as Pulumi's guide to unit tests shows it. # N33"""

import importlib
from pathlib import Path
from typing import Any

import pulumi
import pytest

IMPORTED = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

ground = slipway.Workspace("ml", slipway.WorkspaceArgs(project="acme-dev", region="us-central1"))
if INVOKES:
    gcp.organizations.get_project(project_id="acme-dev")
research = slipway.PersistentResource(
    "research", slipway.PersistentResourceArgs(pools={"all": slipway.PoolArgs(machine=MACHINE, replicas=1)})
)
"""


def imported(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, machine: str, invokes: bool = False) -> Any:
    """Import a program after `set_mocks`, at a module's level, as Pulumi's guide to unit tests shows it."""

    class Mocks(pulumi.runtime.Mocks):
        def new_resource(self, args: Any) -> tuple[str, Any]:
            return f"{args.name}-id", args.inputs

        def call(self, args: Any) -> Any:
            return {"projectId": "acme-dev"}

    written = IMPORTED.replace("INVOKES", str(invokes)).replace("MACHINE", repr(machine))
    (folder / f"{name}.py").write_text(written, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    pulumi.runtime.set_mocks(Mocks(), preview=False)
    return importlib.import_module(name)


@pytest.mark.parametrize("invokes", [False, True])
def test_a_program_that_a_test_imports_has_outputs_in_each_of_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invokes: bool
) -> None:
    infra = imported(tmp_path, monkeypatch, f"infra_{invokes}", machine="n1-standard-4", invokes=invokes)
    seen: list[str] = []
    run: Any = pulumi.runtime.test
    run(lambda: infra.research.cluster_id.apply(seen.append))()
    run(lambda: infra.ground.work_bucket.apply(seen.append))()
    assert seen[0].startswith("research-") and seen[1].endswith("--ml-work")


def test_a_program_that_a_test_imports_ends_the_import_with_its_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(pulumi.RunError, match=r"PersistentResource research: pools.all.machine"):
        imported(tmp_path, monkeypatch, "infra_wrong", machine="n9-standard-4")
