"""Boundaries of multipart bodies, as the clients write them."""

import pytest

from local.cloud.storage.multipart import boundary


@pytest.mark.parametrize(
    "written",
    [
        "===1==",
        '"===1=="',
        "'===1=='",  # gcloud storage
    ],
)
def test_a_boundary_may_stand_in_either_quotation_marks(written: str) -> None:
    assert boundary(f"multipart/related; boundary={written}") == b"===1=="
