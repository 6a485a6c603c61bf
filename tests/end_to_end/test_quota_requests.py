"""`slipway:quota: {mode: request}` with the real engine: what is short is asked for, nothing is made before it is
granted, and no request is ever lowered, whoever made it. # Z2 # D2 # N6"""

from typing import Any

import pytest

from tests.checkouts.checkout import MACHINE, PROJECT, Checkout

pytestmark = pytest.mark.journey

CPUS, SPOT_CPUS = "custom_model_training_cpus", "custom_model_training_preemptible_cpus"
PREFERENCES = f"/v1/projects/{PROJECT}/locations/global/quotaPreferences"
ASKS = {"mode": "request", "contactEmail": "ml@acme.example", "justification": "the search team's models"}
NAME = "aiplatform_googleapis_com-CustomModelTrainingCPUsPerProjectPerRegion_us-central1"


def preferences(checkout: Checkout) -> dict[str, Any]:
    listed = checkout.cloud.every(PREFERENCES, "quotaPreferences")
    return {entry["name"].rpartition("/")[2]: entry for entry in listed}


def declared(checkout: Checkout) -> dict[str, str]:
    """What the engine knows: by logical name, the limit that is asked for."""
    of_type = (resource for resource in checkout.resources() if resource["type"].startswith("gcp:cloudquota/"))
    return {
        resource["urn"].rpartition("::")[2]: resource["outputs"]["quotaConfig"]["preferredValue"]
        for resource in of_type
    }


def settings(checkout: Checkout, **values: Any) -> None:
    checkout.cloud.rest("POST", "/vertex-local/settings", values)


def write(checkout: Checkout, most: int = 2, **quota: Any) -> None:
    pool = {**MACHINE, "replicas": {"min": 1, "max": most}}
    checkout.write(quota=quota or ASKS, persistentResources={"cpu": {"pools": {"all": pool}}})


def row(said: str, words: str) -> str:
    return next(line for line in map(" ".join, map(str.split, said.splitlines())) if f"vCPUs {words}" in line)


def test_what_is_short_is_asked_for_and_waited_for_and_never_lowered(checkout: Checkout) -> None:
    settings(checkout, **{f"quota.{CPUS}": 2}, quota_reconcile_seconds=3600)
    nothing_is_made_while_a_request_is_pending(checkout)
    what_is_granted_is_used_and_one_that_was_raised_by_hand_stays(checkout)
    one_that_the_engine_forgot_is_taken_over_and_then_raised(checkout)
    checkout.up()  # what became of a request is a fact of the stack
    checkout.at_rest()


def nothing_is_made_while_a_request_is_pending(checkout: Checkout) -> None:
    write(checkout)
    preview = checkout.pulumi("preview")
    assert preview.code == 0, preview.said
    assert row(preview.said, "pool cpu/all").endswith("this deployment asks for 8")
    assert f"quota {CPUS} in us-central1" in preview.said and "needs 4, limit 2" in preview.said
    assert preferences(checkout) == {} and checkout.nothing_made()

    done = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert done.code != 0, done.said
    assert "quota does not suffice yet" in done.said
    assert "asked for 8: pending" in done.said
    assert "fix: deploy again" in done.said
    assert checkout.clusters() == {}
    asked = preferences(checkout)
    assert {request["quotaConfig"]["preferredValue"] for request in asked.values()} == {"8", "4"}, (
        "a template's spot offer too"
    )
    assert asked[NAME]["justification"] == ASKS["justification"] and asked[NAME]["reconciling"]
    assert declared(checkout) == {CPUS: "8", SPOT_CPUS: "4"}

    preview = checkout.pulumi("preview")
    assert preview.code == 0, preview.said
    assert row(preview.said, "pool cpu/all").endswith("asked for 8: pending")
    assert row(preview.said, "nap spot").endswith("asked for 4: pending")
    assert checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s").code != 0
    assert preferences(checkout) == asked, "it is asked for once"


def what_is_granted_is_used_and_one_that_was_raised_by_hand_stays(checkout: Checkout) -> None:
    settings(checkout, quota_reconcile_seconds=0)
    more = {"quotaConfig": {"preferredValue": "12"}, "contactEmail": "ml@acme.example"}
    checkout.cloud.rest("PATCH", f"{PREFERENCES}/{NAME}", more)
    checkout.up()
    assert list(checkout.clusters().values()) == ["RUNNING"]
    assert preferences(checkout)[NAME]["quotaConfig"] | {"traceId": ""} == {
        "preferredValue": "12",
        "grantedValue": "12",
        "traceId": "",
    }
    assert declared(checkout) == {CPUS: "12", SPOT_CPUS: "4"}
    told = checkout.slipway("quota")
    assert row(told.out, "pool cpu/all").endswith("asked for 12: granted")


def one_that_the_engine_forgot_is_taken_over_and_then_raised(checkout: Checkout) -> None:
    before = preferences(checkout)
    write(checkout, mode="enforce")
    checkout.up()
    assert declared(checkout) == {} and preferences(checkout) == before, "nothing is sent"

    write(checkout, most=4)
    checkout.up()
    assert declared(checkout) == {CPUS: "12", SPOT_CPUS: "4"} and preferences(checkout) == before

    settings(checkout, quota_grant_ceiling=14)
    checkout.up()
    raised = preferences(checkout)[NAME]["quotaConfig"]
    assert (raised["preferredValue"], raised["grantedValue"]) == ("16", "14")
    (line,) = (entry for entry in checkout.slipway("quota", "-o", "json").json["lines"] if entry["metric"] == CPUS)
    why = "The request was partially approved: 14 of 16."
    assert line["request"] == {"state": "partly", "asked": 16, "granted": 14, "why": why}
