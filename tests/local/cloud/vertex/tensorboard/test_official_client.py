"""`aiplatform.Tensorboard` of the unmodified SDK."""

from __future__ import annotations

import pytest
from google.api_core import exceptions

from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform


def test_the_sdk_keeps_a_tensorboard(vertex_sdk: LocalCloud) -> None:
    made = aiplatform.Tensorboard.create(display_name="sdk", labels={"team": "ml"})
    made.update(display_name="renamed", description="of the tests")
    found = aiplatform.Tensorboard(made.resource_name)
    assert (found.display_name, found.labels) == ("renamed", {"team": "ml"})
    # Without a bucket for its blobs the SDK's uploader, which is not installed here, calls it obsolete.
    for board in (found, *aiplatform.Tensorboard.list()):
        assert board.gca_resource.blob_storage_path_prefix.startswith("cloud-ai-platform-")
    assert made.resource_name in [item.resource_name for item in aiplatform.Tensorboard.list()]
    made.delete()
    with pytest.raises(exceptions.NotFound):
        aiplatform.Tensorboard(made.resource_name)


def test_the_sdk_writes_and_reads_scalars(vertex_sdk: LocalCloud) -> None:
    board = aiplatform.Tensorboard.create(display_name="scalars")
    experiment = aiplatform.TensorboardExperiment.create("exp", tensorboard_name=board.name)
    run = aiplatform.TensorboardRun.create("run-1", tensorboard_experiment_name=experiment.resource_name)
    run.create_tensorboard_time_series("loss")
    for step, value in enumerate((1.0, 0.5, 0.25), 1):
        run.write_tensorboard_scalar_data({"loss": value}, step=step)
    data = run.read_time_series_data()["loss"]
    assert [(point.step, point.scalar.value) for point in data.values] == [(1, 1.0), (2, 0.5), (3, 0.25)]
    listed = aiplatform.TensorboardRun.list("exp", tensorboard_id=board.name)
    assert [item.resource_name for item in listed] == [run.resource_name]
    run.delete()
    assert aiplatform.TensorboardRun.list("exp", tensorboard_id=board.name) == []
