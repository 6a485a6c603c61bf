"""A stack file's declaration for the local cloud. # N4"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from local.cloud.identities import SUBMITTER
from local.cloud.projects import parse
from local.stack_file import LaptopStack, read
from slipway.errors import ConfigError, SlipwayError

TEAM = "group:team@acme.example"
SWEEPS = "sweeps@acme-ml-prod.iam.gserviceaccount.com"
H100 = {"machine": "a3-highgpu-8g", "disk": {"type": "pd-ssd", "sizeGb": 500}, "replicas": {"min": 1, "max": 4}}
CPU = {"machine": "n1-standard-4", "disk": {"type": "pd-ssd", "sizeGb": 100}, "replicas": 1}


def stack(folder: Path, *submitters: str, **more: object) -> LaptopStack:
    config = {
        "gcp:project": "acme-ml-prod",
        "gcp:region": "us-central1",
        "gcp:addPulumiAttributionLabel": "false",
        "slipway:persistentResources": more or {"cpu": {"pools": {"head": CPU}}},
        "slipway:quota": {"mode": "enforce", "contactEmail": "a@acme.example"},
        "slipway:templates": [],
        "slipway:workspace": {"submitters": list(submitters)},
    }
    file = folder / "stacks" / "Pulumi.prod.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump({"config": config}))
    return read(folder, "prod")


def test_groups_have_the_submitter_and_others_can_sign_in_themselves(tmp_path: Path) -> None:
    found = stack(tmp_path, TEAM, "user:bea@acme.example", f"serviceAccount:{SWEEPS}", "domain:acme.example")
    told = found.declaration()
    assert told["project"] == "acme-ml-prod"
    assert told["groups"] == {TEAM: [SUBMITTER]}
    assert told["people"] == ["user:bea@acme.example", f"serviceAccount:{SWEEPS}", "user:ada@acme.example"]
    assert told["accounts"] == [SWEEPS]
    assert found.submitter == "submitter"
    assert parse(told).project == "acme-ml-prod"


def test_without_a_group_the_first_person_submits(tmp_path: Path) -> None:
    assert stack(tmp_path, "user:bea@acme.example").submitter == "bea@acme.example"


def test_an_account_of_another_project_is_that_projects(tmp_path: Path) -> None:
    told = stack(tmp_path, "serviceAccount:runs@acme-ml-other.iam.gserviceaccount.com").declaration()
    assert told["accounts"] == [] and len(told["people"]) == 1


def test_quota_is_twice_what_pools_take_where_the_service_gives_less(tmp_path: Path) -> None:
    quota = stack(tmp_path, TEAM, h100={"pools": {"workers": H100}}).declaration()["quota"]
    assert quota["custom_model_training_nvidia_h100_gpus.us-central1"] == 2 * 4 * 8
    assert stack(tmp_path, TEAM).declaration()["quota"] == {}


def test_machines_elsewhere_have_quota_there(tmp_path: Path) -> None:
    cluster = {"pools": {"workers": H100}, "alternatives": [{"region": "us-east5"}]}
    quota = stack(tmp_path, TEAM, h100=cluster).declaration()["quota"]
    assert quota["custom_model_training_nvidia_h100_gpus.us-east5"] == 2 * 4 * 8


def test_a_stack_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    stack(tmp_path, TEAM)
    with pytest.raises(ConfigError, match="there is no stack porod") as refused:
        read(tmp_path, "porod")
    assert refused.value.fix.endswith(": prod")


def test_a_mistake_is_told_as_check_tells_it(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="submitters"):
        stack(tmp_path, "everybody")
