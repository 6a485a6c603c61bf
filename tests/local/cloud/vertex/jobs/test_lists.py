"""Lists of custom jobs: filters, order, pages, masks, and what they do not show yet."""

from local.cloud.faults import Fault
from tests.local.cloud.calling import CLUSTERS, JOBS, Calling


def test_a_list_is_filtered_paged_and_masked(calling: Calling) -> None:
    calling.cluster("cpu")
    for number in range(5):
        calling.job(displayName=f"train-{number}", labels={"n": str(number % 2)})
    calling.job(displayName="other", cluster="cpu")
    everything = calling.call("GET", JOBS)["customJobs"]
    assert [job["displayName"] for job in everything][:2] == ["other", "train-4"], "newest first"
    odd = calling.call("GET", f'{JOBS}?filter=labels.n="1" AND display_name:"train-*"')
    assert [job["displayName"] for job in odd["customJobs"]] == ["train-3", "train-1"]
    on_pool = calling.call("GET", f'{JOBS}?filter=job_spec.persistent_resource_id="cpu"')["customJobs"]
    assert [job["displayName"] for job in on_pool] == ["other"]
    names: list[str] = []
    token = ""
    while True:
        page = calling.call("GET", f"{JOBS}?pageSize=4&readMask=displayName&pageToken={token}")
        assert all(list(job) == ["displayName"] for job in page["customJobs"])
        names += [job["displayName"] for job in page["customJobs"]]
        token = page.get("nextPageToken", "")
        if not token:
            break
    assert names == ["other", "train-4", "train-3", "train-2", "train-1", "train-0"]


def test_a_list_can_lag_behind_what_was_made(calling: Calling) -> None:
    """N7: lists have no promise to show a job at once, a read by name has."""
    calling.cluster("cpu")
    calling.world.faults.set([Fault("lagging-list", "GET .*/(customJobs|persistentResources)$", seconds=30)])
    made = calling.job(displayName="late")
    assert calling.call("GET", f'{JOBS}?filter=display_name="late"') == {"customJobs": []}
    assert calling.call("GET", CLUSTERS) == {"persistentResources": []}
    assert calling.call("GET", "/v1/" + made["name"])["displayName"] == "late"
    calling.clock.advance(31)
    assert (
        len(calling.call("GET", JOBS)["customJobs"]) == len(calling.call("GET", CLUSTERS)["persistentResources"]) == 1
    )
