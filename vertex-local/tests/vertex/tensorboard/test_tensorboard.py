"""TensorBoard resources and their data, by the rules of their messages."""

from typing import Any
from urllib.parse import quote

import pytest

from vertex_local import identities
from vertex_local.testing.bodies import job_body
from vertex_local.testing.calling import JOBS, NUMBERED, PARENT, Calling

BOARDS = f"/v1/{PARENT}/tensorboards"


def board(calling: Calling, **body: Any) -> str:
    answer = calling.call("POST", BOARDS, {"displayName": "board"} | body)
    return "/v1/" + str(answer["response"]["name"])


def run(calling: Calling, name: str = "run-1", experiment: str = "exp") -> str:
    """The path of a new run in a new experiment of a new tensorboard."""
    at = board(calling)
    calling.call("POST", f"{at}/experiments?tensorboardExperimentId={experiment}", {})
    calling.call("POST", f"{at}/experiments/{experiment}/runs?tensorboardRunId={name}", {"displayName": name})
    return f"{at}/experiments/{experiment}/runs/{name}"


def series(calling: Calling, at: str, title: str = "loss", kind: str = "SCALAR") -> str:
    body = {"displayName": title, "valueType": kind, "pluginName": "scalars"}
    return str(calling.call("POST", f"{at}/timeSeries", body)["name"])


def points(*values: float, start: int = 1) -> list[dict[str, Any]]:
    return [
        {"step": str(step), "wallTime": f"2026-11-20T10:00:{step:02}Z", "scalar": {"value": value}}
        for step, value in enumerate(values, start)
    ]


def write(calling: Calling, at: str, name: str, values: list[dict[str, Any]], kind: str = "SCALAR") -> Any:
    data = [{"tensorboardTimeSeriesId": name.rpartition("/")[2], "valueType": kind, "values": values}]
    return calling.call("POST", f"{at}:write", {"timeSeriesData": data})


def read(calling: Calling, name: str, query: str = "") -> list[float]:
    found = calling.call("GET", f"/v1/{name}:read{query}")["timeSeriesData"]
    return [point["scalar"].get("value", 0.0) for point in found.get("values", [])]


def test_a_tensorboard_is_made_changed_and_removed_by_operations(calling: Calling) -> None:
    at = board(calling, labels={"team": "ml"})
    found = calling.call("GET", at)
    assert found["name"].startswith(f"{NUMBERED}/tensorboards/5") and found["labels"] == {"team": "ml"}
    done = calling.call("PATCH", f"{at}?updateMask=displayName", {"displayName": "new", "labels": {"not": "asked"}})
    assert done["done"] and done["metadata"]["@type"].endswith("UpdateTensorboardOperationMetadata")
    changed = calling.call("GET", at)
    assert (changed["displayName"], changed["labels"]) == ("new", {"team": "ml"})
    assert int(changed["etag"]) > int(found["etag"])
    assert calling.call("DELETE", at)["done"]
    assert calling.refused("GET", at).code == 404


def test_a_region_has_one_default_tensorboard_at_most(calling: Calling) -> None:
    first, second = board(calling, isDefault=True), board(calling, isDefault=True)
    listed = calling.call("GET", f"{BOARDS}?filter=is_default=true")["tensorboards"]
    assert ["/v1/" + item["name"] for item in listed] == [second]
    assert "isDefault" not in calling.call("GET", first)


def test_what_is_in_a_tensorboard_goes_with_it(calling: Calling) -> None:
    at = run(calling)
    name = series(calling, at)
    write(calling, at, name, points(1.0))
    top = at.partition("/experiments")[0]
    assert calling.call("GET", top)["runCount"] == 1
    calling.call("DELETE", top)
    assert calling.refused("GET", at).code == 404
    assert calling.refused("GET", f"/v1/{name}:read").code == 404


def test_removing_a_run_leaves_its_neighbour_of_a_similar_name(calling: Calling) -> None:
    at = run(calling)
    calling.call("POST", f"{at.rpartition('/')[0]}?tensorboardRunId=run-12", {"displayName": "run-12"})
    kept = series(calling, f"{at}2")
    write(calling, f"{at}2", kept, points(1.0))
    calling.call("DELETE", at)
    assert read(calling, kept) == [1.0]


def test_data_is_kept_by_step_and_the_last_write_of_a_step_stands(calling: Calling) -> None:
    at = run(calling)
    name = series(calling, at)
    write(calling, at, name, points(3.0, 2.0, 1.0))
    write(calling, at, name, points(2.5, start=2))
    assert read(calling, name) == [3.0, 2.5, 1.0]
    found = calling.call("GET", f"/v1/{name}")["metadata"]
    assert found == {"maxStep": "3", "maxWallTime": "2026-11-20T10:00:03Z"}


def test_a_reader_may_ask_for_fewer_points_and_gets_both_ends(calling: Calling) -> None:
    at = run(calling)
    name = series(calling, at)
    write(calling, at, name, points(*map(float, range(50))))
    assert read(calling, name, "?maxDataPoints=3") == [0.0, 24.0, 49.0]
    assert len(read(calling, name, "?maxDataPoints=-1")) == 50


def test_many_series_are_read_at_once(calling: Calling) -> None:
    at = run(calling)
    names = [series(calling, at, title) for title in ("loss", "accuracy")]
    for name in names:
        write(calling, at, name, points(1.0))
    top = at.partition("/experiments")[0]
    query = "&".join(f"timeSeries={name}" for name in names)
    found = calling.call("GET", f"{top}:batchRead?{query}")["timeSeriesData"]
    assert [item["tensorboardTimeSeriesId"] for item in found] == [name.rpartition("/")[2] for name in names]
    other = board(calling)
    assert "is not in" in str(calling.refused("GET", f"{other}:batchRead?{query}"))
    many = "&".join(["timeSeries=x"] * 101)
    assert "At most 100 time series" in str(calling.refused("GET", f"{top}:batchRead?{many}"))


def test_an_experiment_s_runs_are_written_in_one_call_or_not_at_all(calling: Calling) -> None:
    at = run(calling)
    experiment = at.rpartition("/runs/")[0]
    name = series(calling, at)
    good = {
        "tensorboardRun": at.removeprefix("/v1/"),
        "timeSeriesData": [
            {"tensorboardTimeSeriesId": name.rpartition("/")[2], "valueType": "SCALAR", "values": points(1.0)}
        ],
    }
    bad = {**good, "tensorboardRun": "projects/1/locations/us-central1/tensorboards/1/experiments/e/runs/r"}
    assert calling.refused("POST", f"{experiment}:write", {"writeRunDataRequests": [good, bad]}).code == 400
    assert read(calling, name) == []
    calling.call("POST", f"{experiment}:write", {"writeRunDataRequests": [good]})
    assert read(calling, name) == [1.0]


def test_runs_and_series_are_made_in_batches(calling: Calling) -> None:
    at = run(calling)
    experiment = at.rpartition("/runs/")[0].removeprefix("/v1/")
    runs = [
        {"parent": experiment, "tensorboardRunId": f"r{n}", "tensorboardRun": {"displayName": f"r{n}"}} for n in (1, 2)
    ]
    made = calling.call("POST", f"/v1/{experiment}/runs:batchCreate", {"requests": runs})["tensorboardRuns"]
    assert [item["name"].rpartition("/")[2] for item in made] == ["r1", "r2"]
    wanted = [
        {"parent": f"{experiment}/runs/{name}", "tensorboardTimeSeries": {"displayName": "x", "valueType": "SCALAR"}}
        for name in ("r1", "r2", "r3")
    ]
    assert calling.refused("POST", f"/v1/{experiment}:batchCreate", {"requests": wanted}).code == 404
    made = calling.call("POST", f"/v1/{experiment}:batchCreate", {"requests": wanted[:2]})["tensorboardTimeSeries"]
    assert len(made) == 2


def test_logging_does_not_use_up_the_calls_of_other_resources(calling: Calling) -> None:
    at = run(calling)
    name = series(calling, at)
    calling.world.change_settings({"calls_per_minute": 1})
    for _ in range(5):
        write(calling, at, name, points(1.0))
        read(calling, name)
    calling.call("GET", BOARDS)
    assert calling.refused("GET", BOARDS).status == "RESOURCE_EXHAUSTED"


# --- Event files that a job writes are runs of the tensorboard that it names (Z4).


@pytest.fixture
def named_board(calling: Calling) -> str:
    calling.bucket("work")
    return str(calling.call("POST", BOARDS, {"displayName": "named_board"})["response"]["name"])


def job(calling: Calling, named_board: str) -> str:
    """The name of a job that writes below gs://work/out/logs/."""
    return str(calling.job(spec=logging_to(named_board))["name"])


def logging_to(named_board: str) -> dict[str, Any]:
    output = {"outputUriPrefix": "gs://work/out"}
    return {"serviceAccount": identities.DEPLOYER, "tensorboard": named_board, "baseOutputDirectory": output}


def logs(calling: Calling, name: str) -> None:
    path = f"/upload/storage/v1/b/work/o?uploadType=media&name={quote(f'out/logs/{name}', safe='')}"
    calling.call("POST", path, raw=b"events")


def runs(calling: Calling, at: str) -> list[str]:
    return sorted(run["displayName"] for run in calling.call("GET", f"{at}/runs").get("tensorboardRuns", []))


def test_a_job_s_logs_are_runs_of_an_experiment_of_its_own(calling: Calling, named_board: str) -> None:
    name = job(calling, named_board)
    at = f"/v1/{named_board}/experiments/{name.rpartition('/')[2]}"
    logs(calling, "notes.txt")
    assert calling.call("GET", f"/v1/{named_board}/experiments") == {}
    logs(calling, "events.out.tfevents.1.host.1.0")
    assert runs(calling, at) == ["default"] and calling.call("GET", at)["displayName"] == "train"
    calling.call("POST", f"/v1/{name}:cancel", {})
    logs(calling, "Eval Set/events.out.tfevents.2")
    assert runs(calling, at) == ["default", "eval-set"]


def test_the_sdk_finds_the_run_s_context_to_end_it(calling: Calling, named_board: str) -> None:
    name = job(calling, named_board)
    logs(calling, "events.tfevents")
    calling.call("GET", f"/v1/{named_board}")
    contexts = f"/v1/{PARENT}/metadataStores/default/contexts/{name.rpartition('/')[2]}"
    assert calling.call("GET", f"{contexts}-default")["metadata"]["_state"] == "RUNNING"
    # The mark by which the SDK tells it from an experiment of people.
    assert "tensorboard_link" in calling.call("GET", contexts)["metadata"]


@pytest.mark.parametrize(("where", "code"), [("us-central1", 404), ("europe-west4", 400)])
def test_the_tensorboard_must_be_in_the_job_s_region(calling: Calling, named_board: str, where: str, code: int) -> None:
    number = f"{named_board.partition('/locations/')[0]}/locations/{where}/tensorboards/1"
    if code == 400:
        made = calling.call("POST", BOARDS.replace("us-central1", where), {"displayName": "far"})
        number = made["response"]["name"]
    assert calling.refused("POST", JOBS, job_body(spec=logging_to(number))).code == code
