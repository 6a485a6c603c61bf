"""What jobs need retires as the clusters do that they run on: accounts and buckets. # N1 # D5"""

from typing import Any
from urllib.parse import quote

import pytest

from tests.checkouts.checkout import PROJECT, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey
AT = f"{PROJECT}.iam.gserviceaccount.com"


def write(checkout: Checkout, **workspace: Any) -> None:
    checkout.write(workspace={"submitters": ["group:ml-engineers@slipway.example"], **workspace})


def up(checkout: Checkout, **workspace: Any) -> str:
    write(checkout, **workspace)
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    return done.said


def exists(checkout: Checkout, path: str) -> bool:
    return checkout.cloud.session().get(checkout.cloud.url + path).status_code == 200


def account(checkout: Checkout, name: str) -> bool:
    return exists(checkout, f"/v1/projects/{PROJECT}/serviceAccounts/{name}@{AT}")


def bucket(checkout: Checkout, name: str) -> bool:
    return exists(checkout, f"/storage/v1/b/{name}")


def roles(checkout: Checkout, bucket: str, account: str) -> list[str]:
    """What an account may do on a bucket."""
    bindings = checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}/iam").get("bindings", [])
    return sorted(one["role"] for one in bindings if f"serviceAccount:{account}@{AT}" in one["members"])


def at_rest(checkout: Checkout) -> None:
    done = checkout.pulumi("preview", "--expect-no-changes")
    assert done.code == 0, done.said


def test_a_job_keeps_the_account_that_it_runs_as_and_the_buckets_that_it_reads_and_writes(checkout: Checkout) -> None:
    """All three are renamed at once while it runs, and back when it has ended."""
    base = f"{PROJECT}-{checkout.stack}"
    trainer, catalog, work = f"slipway-{checkout.stack}-trainer", f"{base}-catalog", f"{base}-work"
    new = {"trainer": f"{checkout.stack}-new", "catalogBucket": f"{base}-other", "workBucket": f"{base}-results"}
    up(checkout)
    job = checkout.submit("-p", "seconds=600")
    name = job["displayName"]
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
    spec = checkout.cloud.rest("GET", f"/v1/{job['name']}")["jobSpec"]["workerPoolSpecs"][0]
    package = spec["pythonPackageSpec"]["packageUris"][0].removeprefix(f"gs://{catalog}/")

    write(checkout, **new)
    preview = checkout.pulumi("preview")
    assert preview.code == 0, preview.said
    for what in (f"account {trainer}@{AT}", f"bucket gs://{catalog}", f"bucket gs://{work}"):
        assert f"{what} retires when the job that needs it has ended: {name}" in preview.said
    up(checkout, **new)
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    assert account(checkout, trainer) and account(checkout, new["trainer"])
    assert exists(checkout, f"/storage/v1/b/{catalog}/o/{quote(package, safe='')}")
    assert not exists(checkout, f"/storage/v1/b/{catalog}/o/catalog.json"), "nobody is sent there any more"
    assert exists(checkout, f"/storage/v1/b/{new['catalogBucket']}/o/catalog.json")
    assert roles(checkout, catalog, trainer) == ["roles/storage.objectViewer"]
    assert roles(checkout, work, trainer) == ["roles/storage.objectUser"]
    at_rest(checkout)

    refused = checkout.destroy()
    assert refused.code != 0
    assert "the stack is not deleted: 1 job has not ended" in refused.said
    at_rest(checkout)

    beside = checkout.submit("-p", "seconds=600", SLIPWAY_CATALOG=f"gs://{new['catalogBucket']}")
    checkout.cloud.cancel(job["name"])
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job is cancelled")
    said = up(checkout, **new)
    assert checkout.job_state(beside["name"]) == "JOB_STATE_RUNNING", "one that needs only what is new"
    assert f"bucket gs://{catalog} is not asked for any more and no job needs it: it will be deleted" in said
    assert f"gcloud storage rm --recursive gs://{work}" in said
    assert not account(checkout, trainer) and not bucket(checkout, catalog)
    assert bucket(checkout, work), "people's results are kept"
    assert roles(checkout, work, trainer) == []
    at_rest(checkout)

    checkout.cloud.cancel(beside["name"])
    wait_for(lambda: checkout.job_state(beside["name"]) == "JOB_STATE_CANCELLED", "the other is cancelled")
    up(checkout)
    assert account(checkout, trainer) and not account(checkout, new["trainer"])
    assert bucket(checkout, catalog) and not bucket(checkout, new["catalogBucket"])
    at_rest(checkout)
    done = checkout.destroy()
    assert done.code == 0, done.said
    assert not account(checkout, trainer) and not bucket(checkout, catalog)
