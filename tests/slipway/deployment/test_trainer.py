"""What the trainer needs on the project follows from what templates write. # P5 W8"""

from typing import Any

import pytest

from slipway.deployment.workspace_plan import trainer_roles
from slipway.template import JobTemplate, Package, WorkerPool


def template(**changes: Any) -> JobTemplate:
    code = Package("jobs/nap", "nap.task", "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest")
    return JobTemplate("nap", "sleeps", code, (WorkerPool("chief", "n1-standard-4"),), **changes)


@pytest.mark.parametrize(
    ("changes", "roles"),
    [
        ({}, ()),
        ({"experiment": "digits"}, ("roles/aiplatform.user",)),
        ({"tensorboard": "7"}, ("roles/aiplatform.user",)),
        ({"tensorboard": "7", "service_account": "other@acme.iam.gserviceaccount.com"}, ()),
    ],
)
def test_only_those_who_write_to_vertex_ai_may(changes: dict[str, Any], roles: tuple[str, ...]) -> None:
    assert trainer_roles([template(), template(**changes)]) == roles
