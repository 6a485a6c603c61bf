"""Pages of lists, and waits for operations, as the reference has them. (N17)"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from vertex_local.testing.bodies import cluster_body
from vertex_local.testing.calling import CLUSTERS, PARENT, Calling


@pytest.mark.parametrize(
    ("collection", "size", "listed"),
    [("experiments", "", 50), ("experiments", "?pageSize=101", 60), ("", "", 60), ("", "?pageSize=1000", 100)],
)
def test_a_page_has_the_usual_number_and_never_more_than_the_largest(
    calling: Calling, collection: str, size: str, listed: int
) -> None:
    boards = f"/v1/{PARENT}/tensorboards"
    board = calling.call("POST", boards, {"displayName": "b"})["response"]["name"]
    for number in range(1, 60 if listed < 100 else 101):
        calling.call("POST", boards, {"displayName": f"b{number}"})
    for number in range(60 if collection else 0):
        calling.call("POST", f"/v1/{board}/experiments?tensorboardExperimentId=e-{number}", {})
    path = f"/v1/{board}/experiments" if collection else boards
    (page,) = (value for key, value in calling.call("GET", path + size).items() if key != "nextPageToken")
    assert len(page) == listed


def test_a_wait_returns_when_the_operation_is_done_or_its_time_is_over(calling: Calling) -> None:
    calling.set(create_seconds=10)
    operation = calling.call("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body())["name"]
    assert "done" not in calling.call("POST", f"/v1/{operation}:wait?timeout=0s")
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(calling.call, "POST", f"/v1/{operation}:wait")
        calling.clock.advance(10)
        assert waiting.result()["done"]
