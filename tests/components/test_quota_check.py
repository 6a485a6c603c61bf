"""What the check of quota publishes. # D2"""

from components.catalog import QuotaCheck
from slipway.google.quota.request import QuotaRequest
from slipway.google.quotas import QuotaPreference

from .conftest import FACTS, PROJECT, Asked, declared, every, only

PREFERENCE = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
H100 = QuotaRequest("gpus", "us-central1", "H100GPUs", "h100-us-central1", value=16, wanted=16)


def check(*requests: QuotaRequest) -> list[Asked]:
    return declared(
        lambda: QuotaCheck(
            "quota",
            facts=FACTS,
            requests=requests,
            project=PROJECT,
            contact="ml@acme.example",
            justification="training",
        )
    )


def test_it_publishes_its_facts() -> None:
    asked = only(declared(lambda: QuotaCheck("quota", project=PROJECT, facts=FACTS)), "slipway:components:QuotaCheck")
    assert asked.inputs == FACTS


def test_what_is_asked_for_is_a_preference_each_and_outlives_the_stack() -> None:  # Z2
    cpus = QuotaRequest("cpus", "us-central1", "CPUs", "cpus-us-central1", value=64, wanted=64)
    asked = every(check(H100, cpus), PREFERENCE)
    assert asked.keys() == {"gpus", "cpus"}
    assert asked["gpus"].inputs == {
        "name": "h100-us-central1",
        "parent": f"projects/{PROJECT}",
        "service": "aiplatform.googleapis.com",
        "quotaId": "H100GPUs",
        "dimensions": {"region": "us-central1"},
        "quotaConfig": {"preferredValue": "16"},
        "contactEmail": "ml@acme.example",
        "justification": "training",
    }
    request = asked["gpus"].request
    assert (asked["gpus"].parent, request.retainOnDelete) == ("quota", True)
    assert (request.importId, list(request.ignoreChanges)) == ("", [])


def test_one_that_is_there_is_taken_over_and_sent_again_only_to_ask_for_more() -> None:  # Z2
    there = QuotaPreference("by-hand", "H100GPUs", "us-central1", 16, 8)
    theirs = QuotaRequest("gpus", "us-central1", "H100GPUs", "by-hand", value=16, wanted=16, there=there)
    request = only(check(theirs), PREFERENCE).request
    assert request.importId == f"projects/{PROJECT}/locations/global/quotaPreferences/by-hand"
    assert list(request.ignoreChanges) == ["*"]

    ours = QuotaRequest("gpus", "us-central1", "H100GPUs", "by-hand", 16, 16, there, known=True)
    request = only(check(ours), PREFERENCE).request
    assert (request.importId, list(request.ignoreChanges)) == ("", ["*"])

    more = QuotaRequest("gpus", "us-central1", "H100GPUs", "by-hand", 32, 32, there, known=True)
    asked = only(check(more), PREFERENCE)
    assert (asked.request.importId, list(asked.request.ignoreChanges)) == ("", [])
    assert asked.inputs["quotaConfig"] == {"preferredValue": "32"}
