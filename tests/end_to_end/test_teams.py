"""A team's own machines: the same template, and a submission's team decides. # D6 # N3 # P5 # N32"""

import json

import pytest

from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.shell import Done

LARGE = {**MACHINE, "machine": "n1-standard-8"}
VISION, AUDIO = "group:vision@company.example", "group:audio@company.example"


def declare(checkout: Checkout, vision: str) -> None:
    clusters = {
        name: {"pools": {"all": {**shape, "replicas": 1}}} for name, shape in (("cpu", MACHINE), ("big", LARGE))
    }
    of_vision = {"submitters": [VISION], "clusters": ["big"], "machines": {"small": vision}}
    checkout.write(
        persistentResources=clusters,
        machines={"small": "n1-standard-4"},
        teams={"vision": of_vision, "audio": {"submitters": [AUDIO]}},
    )


def machine(done: Done) -> str:
    assert done.code == 0, done.said
    return str(json.loads(done.out)["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["machineType"])


@pytest.mark.journey
def test_a_team_s_submissions_run_on_its_machines_and_a_review_says_whose_change(checkout: Checkout) -> None:
    nap = checkout.folder / "templates" / "nap.py"
    nap.write_text(nap.read_text().replace('"n1-standard-4"', '"small"').replace('"spot"', '"on-demand"'))
    declare(checkout, "n1-standard-16")
    refused = checkout.pulumi("preview", role="previewer")
    assert refused.code != 0
    assert "template nap fits no pool of this stack on the machines of team vision" in refused.said

    declare(checkout, "n1-standard-8")
    checkout.up()
    dry = ("submit", "nap", "-p", "say=hello", "--dry-run")
    usual, theirs, others = (checkout.slipway(*dry, *team) for team in ((), ("--team", "vision"), ("--team", "audio")))
    assert [machine(done) for done in (usual, theirs, others)] == ["n1-standard-4", "n1-standard-8", "n1-standard-4"]
    assert "pool big: starts now" in theirs.err and "pool cpu: starts now" in others.err
    shown = [" ".join(line.split()) for line in checkout.slipway("templates", "show", "nap").out.splitlines()]
    assert "pool everybody else pool cpu 1 sleeper n1-standard-4 $0.25" in shown
    assert "pool team vision pool big 1 sleeper n1-standard-8 $0.46 of team vision alone" in shown

    sent = checkout.slipway("submit", "nap", "-p", "say=hello", "--team", "vision", "--wait", "--output", "json")
    assert sent.code == 0 and sent.json["job"]["workerPools"][0]["machine"] == "n1-standard-8", sent.said
    again = checkout.slipway("submit", "--like", sent.json["job"]["displayName"], "--team", "vision", "--dry-run")
    assert machine(again) == "n1-standard-8" and "not as it was" not in again.err
    # Another's submission like it has other machines, and is told so.
    again = checkout.slipway("submit", "--like", sent.json["job"]["displayName"], "--dry-run")
    assert machine(again) == "n1-standard-4"
    assert "not as it was: machines: n1-standard-8 × 1 then, n1-standard-4 × 1 now" in again.err

    declare(checkout, "n1-standard-4")
    told = checkout.pulumi("preview", role="previewer").said
    moved = "template nap: --team vision -p say=gs://bucket/object: no longer run on pool big, run on pool cpu first"
    assert moved in told
    assert "need 1 × n1-standard-4, not 1 × n1-standard-8" in told
