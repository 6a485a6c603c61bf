"""An inline program of Pulumi's Automation API: it deploys, and its errors are its caller's. # N33 # N34"""

import sys

import pytest

from slipway.reviewing.preview_text import UNTOUCHED
from tests.checkouts.checkout import PROJECT, REGION, Checkout

pytestmark = pytest.mark.journey

CALLER = f"""
import atexit
import os
import sys

import pulumi
from pulumi import automation

import components as slipway

atexit.register(print, "the caller's own end")
sys.exit = os._exit = lambda code: print("EXITED", code)


def program(least=1, most=2, fails=False):
    def declare():
        ground = slipway.Workspace("ml", slipway.WorkspaceArgs())
        pool = slipway.PoolArgs(machine="n1-standard-4", replicas=slipway.ReplicasArgs(min=least, max=most))
        research = slipway.PersistentResource("research", slipway.PersistentResourceArgs(pools={{"all": pool}}))
        quota = slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[research]))
        catalog = slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, quota=quota))
        pulumi.export("cluster", research.cluster_id)
        if fails:
            raise ValueError("the program's own")

    return declare


stack = automation.create_or_select_stack("inline", "slipway", program())
for key, value in {{"project": "{PROJECT}", "region": "{REGION}"}}.items():
    stack.set_config(f"gcp:{{key}}", automation.ConfigValue(value))
print("made", stack.up().outputs["cluster"].value)


mistakes = (({{"most": 0}}, stack.up), ({{"least": 980, "most": 990}}, stack.preview), ({{"fails": True}}, stack.up))
for edit, run in mistakes:
    stack.workspace.program = program(**edit)
    try:
        run()
    except automation.CommandError as error:
        print("raised", str(error).partition("Diagnostics:")[2])
stack.workspace.program = program(most=3)
print("made", stack.up().outputs["cluster"].value)
stack.destroy(run_program=True)
stack.up()
os.environ["SLIPWAY_PURPOSE"] = "destroy"  # as where another stack needs the same roles
print("took down", stack.destroy(run_program=True).stdout)
print("gone")
"""


def test_it_works_and_its_errors_are_raised_in_the_caller(checkout: Checkout) -> None:
    (checkout.folder / "caller.py").write_text(CALLER)
    done = checkout.run(
        sys.executable,
        "caller.py",
        role="deployer",
        PULUMI_CONFIG_PASSPHRASE="local",
        PYTHONPATH=str(checkout.folder),
    )
    assert done.code == 0 and "EXITED" not in done.out, done.said
    first, *raised = done.out.split("raised")
    wrong, short, own = raised
    assert "pools.all.replicas.max: max 0 is not more than min 1" in wrong
    assert "custom_model_training_cpus" in short
    for error, words in ((wrong, "replicas.max: max 0"), (short, "us-central1, so nothing"), (own, "ValueError:")):
        assert error.partition("\nResources:")[0].count(words) == 1, error
    assert "ValueError: the program's own" in own and "While processing" not in own, own
    last, end = own[own.index("made") :].split("gone")
    last, down = last.split("took down")
    assert UNTOUCHED not in down, "what an up would do"
    assert last.strip() != first.strip(), "another generation"
    assert end.strip() == "the caller's own end" and checkout.clusters() == {}
