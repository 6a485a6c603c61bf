from typing import Any

from local.plugin.planning import plan
from local.plugin.resources.persistent_resource import PersistentResource
from local.plugin.resources.service_account import ServiceAccount
from local.plugin.settings import Settings
from local.plugin.values import COMPUTED, UNKNOWN

_SCHEMA = PersistentResource.schema
_ON = Settings(endpoints={}, token="t", project="p1")
_OFF = Settings(endpoints={}, token="t", project="p1", attribution=False)
_INPUTS: dict[str, Any] = {"name": "h100", "resourcePools": [{"machineSpec": {"machineType": "m"}}]}


def test_what_only_the_cloud_can_tell_is_not_known_in_a_preview() -> None:
    planned = plan(_SCHEMA, None, _INPUTS, _OFF)
    assert {name for name, value in planned.items() if value is COMPUTED} == {
        "state",
        "errors",
        "resourceRuntimes",
        "createTime",
        "startTime",
        "updateTime",
        "satisfiesPzi",
        "satisfiesPzs",
    }
    assert planned["resourcePools"] == [
        {"id": COMPUTED, "machineSpec": {"machineType": "m"}, "usedReplicaCount": COMPUTED}
    ]


def test_project_and_deletion_policy_come_from_the_provider() -> None:
    planned = plan(_SCHEMA, None, _INPUTS, _OFF)
    assert (planned["project"], planned["deletionPolicy"]) == ("p1", "DELETE")
    assert plan(_SCHEMA, None, {**_INPUTS, "project": "p2"}, _OFF)["project"] == "p2"


def test_an_update_keeps_what_the_cloud_said_before() -> None:
    planned = plan(_SCHEMA, {"state": "RUNNING", "createTime": "then"}, _INPUTS, _OFF)
    assert (planned["state"], planned["createTime"]) == ("RUNNING", "then")


def _labels(planned: dict[str, Any]) -> tuple[Any, Any, Any]:
    return planned.get("labels"), planned["pulumiLabels"], planned["effectiveLabels"]


def test_the_attribution_label_is_added_to_a_new_resource_unless_switched_off() -> None:
    given = {**_INPUTS, "labels": {"a": "b"}}
    ours = {"a": "b", "goog-pulumi-provisioned": "true"}
    assert _labels(plan(_SCHEMA, None, given, _ON)) == ({"a": "b"}, ours, ours)
    assert _labels(plan(_SCHEMA, None, given, _OFF)) == ({"a": "b"}, {"a": "b"}, {"a": "b"})


def test_on_an_imported_resource_the_attribution_label_plans_an_update() -> None:
    label = {"goog-pulumi-provisioned": "true"}
    imported = {"effectiveLabels": label, "pulumiLabels": {}}
    assert _labels(plan(_SCHEMA, imported, _INPUTS, _ON)) == (None, label, label)


def test_the_attribution_label_is_not_added_to_what_lives_without_it() -> None:
    assert _labels(plan(_SCHEMA, {"effectiveLabels": {}, "pulumiLabels": {}}, _INPUTS, _ON)) == (None, {}, {})


def test_default_labels_give_way_to_those_of_the_resource() -> None:
    settings = Settings(endpoints={}, token="t", default_labels={"a": "default", "c": "d"}, attribution=False)
    planned = plan(_SCHEMA, None, {**_INPUTS, "labels": {"a": "b"}}, settings)
    assert _labels(planned) == ({"a": "b"}, {"a": "b", "c": "d"}, {"a": "b", "c": "d"})


def test_labels_that_are_not_known_yet_leave_all_three_unknown() -> None:
    assert _labels(plan(_SCHEMA, None, {**_INPUTS, "labels": UNKNOWN}, _OFF)) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_the_address_of_a_new_service_account_is_known_before_it_is_made() -> None:
    planned = plan(ServiceAccount.schema, None, {"accountId": "trainer"}, _OFF)
    assert ServiceAccount().drift({}, planned) == {
        "email": "trainer@p1.iam.gserviceaccount.com",
        "member": "serviceAccount:trainer@p1.iam.gserviceaccount.com",
    }
    assert ServiceAccount().drift({"accountId": "trainer"}, planned) == {}
