"""Whether a job is the one that a request asks for."""

import copy
from typing import Any

import pytest

from slipway.cloud.resources import CustomJob
from slipway.errors import ConfigError
from slipway.submit.request import Request, same

BODY: dict[str, Any] = {
    "displayName": "digits-1",
    "labels": {"slipway-template": "digits"},
    "jobSpec": {
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-8"},
                "replicaCount": "2",
                "pythonPackageSpec": {
                    "args": ["--title=a b", "--trees=5"],
                    "env": [{"name": "LR", "value": "0.1"}, {"name": "MODE", "value": "full"}],
                    "packageUris": ["gs://c/digits-1.tar.gz"],
                },
            }
        ]
    },
}


def request(body: dict[str, Any]) -> Request:
    return Request("nightly", "dev", "digits", body, "slipway submit digits --request-id nightly")


def changed(**task: Any) -> dict[str, Any]:
    body = copy.deepcopy(BODY)
    body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"] |= task
    return body


def test_what_was_sent_is_the_same_also_with_newer_code() -> None:
    made = CustomJob.read({**BODY, "name": "projects/p/locations/r/customJobs/1"})
    assert same(request(BODY), made) is made
    assert same(request(changed(packageUris=["gs://c/digits-2.tar.gz"])), made) is made


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"args": ["--title=a b", "--trees=6"]}, "arguments"),
        ({"args": ["--title=a", "b", "--trees=5"]}, "arguments"),
        (
            {"env": [{"name": "LR", "value": "0.2"}, {"name": "MODE", "value": "full"}]},
            "environment: LR=0.1 MODE=full then, LR=0.2",
        ),
        ({"env": [{"name": "MODE", "value": "full"}]}, "environment: LR=0.1 MODE=full then, MODE=full now"),
    ],
)
def test_other_parameters_are_something_else_wherever_they_stand(task: dict[str, Any], said: str) -> None:
    made = CustomJob.read({**BODY, "name": "projects/p/locations/r/customJobs/1"})
    with pytest.raises(ConfigError, match="used before, for something else") as error:
        same(request(changed(**task)), made)
    assert said in error.value.why
