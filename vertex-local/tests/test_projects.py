"""Several projects in one local cloud, for Google's own clients: each has its people, resources and quota, and one that
nobody named is refused in words. # N4"""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests
from google.api_core.exceptions import Conflict, Forbidden
from google.cloud import storage

from tests.official import aiplatform_v1
from vertex_local.identities import folder_of
from vertex_local.projects import Declaration, Projects
from vertex_local.testing.bodies import cluster_body, job_body, worker
from vertex_local.testing.local_cloud import LocalCloud
from vertex_local.world import open_world

DEV = "acme-ml-dev"
ADA = "user:ada@company.example"
SWEEPS = f"sweeps@{DEV}.iam.gserviceaccount.com"
DECLARED = {
    "project": DEV,
    "groups": {"group:ml-engineers@acme.example": [ADA]},
    "people": [f"serviceAccount:{SWEEPS}"],
    "accounts": [SWEEPS],
    "quota": {"custom_model_training_nvidia_h100_gpus.us-central1": 16},
}
QUOTA = "/locations/global/services/aiplatform.googleapis.com/quotaInfos/CustomModelTrainingH100GPUsPerProjectPerRegion"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """A cloud with a second project, named while it runs."""
    mine = LocalCloud(tmp_path_factory.mktemp("two") / "state")
    mine.up("--set", "calls_per_minute=0", "--set", "submissions_per_minute=0")
    mine.rest("POST", "/vertex-local/projects", DECLARED)
    yield mine
    mine.command("down")


def jobs_of(cloud: LocalCloud, role: str, project: str) -> aiplatform_v1.JobServiceClient:
    return aiplatform_v1.JobServiceClient(**cloud.to_client(role, project))


def buckets_of(cloud: LocalCloud, role: str, project: str) -> storage.Client:
    options: Any = {"api_endpoint": cloud.url}
    return storage.Client(project, cloud.credentials(role, project), client_options=options)


def as_of(cloud: LocalCloud, role: str, project: str, path: str, body: Any = None) -> requests.Response:
    return requests.request(
        "GET" if body is None else "POST",
        cloud.url + path,
        headers={"Authorization": f"Bearer {cloud.token(role, project)}"},
        json=body,
        timeout=30,
    )


def test_a_project_has_its_own_number_jobs_and_clusters(two: LocalCloud) -> None:
    parent = f"projects/{DEV}/locations/us-central1"
    made = two.rest("POST", f"/v1/{parent}/persistentResources?persistentResourceId=mine", cluster_body())
    assert made["name"].startswith("projects/100000000002/")
    sent = job_body()
    client = jobs_of(two, "owner", DEV)
    job = two.rest("POST", f"/v1/{parent}/customJobs", sent)
    assert job["name"].startswith("projects/100000000002/")
    assert [item.name for item in client.list_custom_jobs(parent=parent)] == [job["name"]]
    assert client.get_custom_job(name=job["name"]).display_name == sent["displayName"]
    home = "projects/local-project/locations/us-central1"
    assert list(jobs_of(two, "deployer", "local-project").list_custom_jobs(parent=home)) == []


def test_a_shell_of_a_job_is_of_its_project(two: LocalCloud) -> None:  # N29
    parent = f"/v1/projects/{DEV}/locations/us-central1/customJobs"
    sleeps = {"imageUri": "python:3.10", "command": ["python", "-c", "import time; time.sleep(600)"]}
    body = job_body(worker(containerSpec=sleeps), spec={"enableWebAccess": True})
    name = two.rest("POST", parent, body)["name"]
    (link,) = two.until(name, "JOB_STATE_RUNNING")["webAccessUris"].values()
    page = requests.get(link, timeout=30)
    assert page.status_code == 200 and "text/html" in page.headers["content-type"], page.text
    two.cancel(name)


def test_an_account_of_a_project_of_a_domain_has_the_parts_of_its_id_turned(two: LocalCloud) -> None:
    domain = "acme.example:ml-turned"
    two.rest("POST", "/vertex-local/projects", {"project": domain})
    made = two.rest("POST", f"/v1/projects/{quote(domain)}/serviceAccounts", {"accountId": "trainer"})
    assert made["email"] == "trainer@ml-turned.acme.example.iam.gserviceaccount.com"
    stranger = made["email"].replace("trainer", "stranger")
    policy = {"bindings": [{"role": "roles/viewer", "members": [f"serviceAccount:{stranger}"]}]}
    refused = as_of(two, "owner", domain, f"/v1/projects/{quote(domain)}:setIamPolicy", {"policy": policy})
    assert refused.status_code == 400 and f"{stranger} does not exist" in refused.text


def test_who_deploys_one_project_has_nothing_in_another(two: LocalCloud) -> None:
    parent = f"projects/{DEV}/locations/us-central1"
    with pytest.raises(Forbidden, match="denied on resource"):
        list(jobs_of(two, "deployer", "local-project").list_custom_jobs(parent=parent))
    with pytest.raises(Forbidden):
        list(buckets_of(two, "deployer", "local-project").list_buckets(project=DEV))


def test_a_project_that_nobody_named_is_refused_in_words(two: LocalCloud) -> None:
    known = (
        f"This is the local cloud, and nobody has named the project 'acme-ml-tset' to it; it has local-project, {DEV}"
    )
    with pytest.raises(Forbidden, match=known) as refused:
        parent = "projects/acme-ml-tset/locations/us-central1"
        list(jobs_of(two, "deployer", DEV).list_custom_jobs(parent=parent))
    assert "up --project acme-ml-tset" in str(refused.value)
    with pytest.raises(Forbidden, match=known):
        list(buckets_of(two, "deployer", DEV).list_buckets(project="acme-ml-tset"))
    assert as_of(two, "deployer", DEV, "/v2/entries:list", {"projectIds": ["acme-ml-tset"]}).status_code == 403
    stranger = requests.get(f"{two.url}/v1/projects/acme-ml-tset", timeout=30)
    assert stranger.status_code == 401


def test_a_bucket_belongs_to_one_project_and_its_name_to_all(two: LocalCloud) -> None:
    mine, home = (buckets_of(two, "deployer", project) for project in (DEV, "local-project"))
    bucket = mine.create_bucket(f"{DEV}-work")
    assert str(bucket.project_number) == "100000000002"
    bucket.blob("projects/local-project/a.txt").upload_from_string("mine")
    assert bucket.blob("projects/local-project/a.txt").download_as_text() == "mine"
    with pytest.raises(Conflict, match="not available"):
        home.create_bucket(f"{DEV}-work")
    with pytest.raises(Forbidden):
        home.bucket(f"{DEV}-work").blob("projects/local-project/a.txt").download_as_text()
    assert [item.name for item in home.list_buckets()] == []
    with mine.batch():
        bucket.delete_blob("projects/local-project/a.txt")
    assert list(bucket.list_blobs()) == []


def test_what_somebody_of_another_project_is_granted_they_have(two: LocalCloud) -> None:
    mine = buckets_of(two, "deployer", DEV).create_bucket(f"{DEV}-lent")
    mine.blob("a").upload_from_string("lent")
    policy = mine.get_iam_policy()
    deployer = "serviceAccount:deployer@local-project.iam.gserviceaccount.com"
    policy.bindings.append({"role": "roles/storage.objectViewer", "members": {deployer}})
    mine.set_iam_policy(policy)
    assert buckets_of(two, "deployer", "local-project").bucket(f"{DEV}-lent").blob("a").download_as_text() == "lent"


def test_people_and_groups_of_a_project_are_as_it_was_named(two: LocalCloud) -> None:
    granted = {"policy": {"bindings": [{"role": "roles/aiplatform.viewer", "members": [*DECLARED["groups"]]}]}}
    parent = f"projects/{DEV}/locations/us-central1"
    assert as_of(two, "submitter", DEV, f"/v1/{parent}/customJobs").status_code == 403
    policy = as_of(two, "owner", DEV, f"/v3/projects/{DEV}:getIamPolicy", {}).json()
    policy["bindings"] += granted["policy"]["bindings"]
    assert as_of(two, "owner", DEV, f"/v3/projects/{DEV}:setIamPolicy", {"policy": policy}).status_code == 200
    assert as_of(two, "submitter", DEV, f"/v1/{parent}/customJobs").status_code == 200
    assert as_of(two, SWEEPS, DEV, f"/v1/{parent}/customJobs").status_code == 403
    account = two.rest("GET", f"/v1/projects/-/serviceAccounts/{SWEEPS}")
    assert account["projectId"] == DEV


def test_quota_of_a_project_is_its_own(two: LocalCloud) -> None:
    def h100(project: str) -> str:
        info = two.rest("GET", f"/v1/projects/{project}{QUOTA}")
        return str(
            next(item for item in info["dimensionsInfos"] if "us-central1" in item["applicableLocations"])["details"]
        )

    assert "16" in h100(DEV) and "16" not in h100("local-project")


def test_named_again_it_is_the_same_and_nobody_leaves(own_cloud: LocalCloud) -> None:
    own_cloud.up()
    first = own_cloud.rest("POST", "/vertex-local/projects", DECLARED)
    token = own_cloud.token("deployer", DEV)
    own_cloud.rest("POST", "/vertex-local/projects", {"project": DEV, "groups": {"group:more@acme.example": [ADA]}})
    again = own_cloud.rest("POST", "/vertex-local/projects", DECLARED)
    assert again["number"] == first["number"] and set(again["groups"]) > set(first["groups"])
    assert own_cloud.token("deployer", DEV) == token
    own_cloud.kill()
    own_cloud.up()
    (named,) = [
        project for project in own_cloud.rest("GET", "/vertex-local/projects")["projects"] if project["project"] == DEV
    ]
    assert named == again and own_cloud.token("deployer", DEV) == token
    assert own_cloud.token(SWEEPS, DEV)


def test_a_name_that_two_projects_ask_for_at_once_is_of_one(two: LocalCloud) -> None:
    def make(project: str, name: str) -> int:
        return as_of(two, "deployer", project, f"/storage/v1/b?project={project}", {"name": name}).status_code

    with ThreadPoolExecutor(2) as threads:
        for name in (f"race-{at}" for at in range(20)):
            made = threads.map(make, (DEV, "local-project"), (name, name))
            assert sorted(made) == [200, 409]


def test_a_project_that_can_not_be_opened_is_not_kept(tmp_path: Path) -> None:
    home = open_world(tmp_path)
    in_the_way = folder_of(home.state_folder, DEV)
    in_the_way.parent.mkdir()
    in_the_way.touch()
    with pytest.raises(FileExistsError):
        Projects(home).name(Declaration(DEV))
    in_the_way.unlink()
    assert [world.project.id for world in Projects(home).worlds()] == ["local-project"]


def test_at_a_start_a_project_that_can_not_be_opened_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = open_world(tmp_path)
    before = Projects(home)
    for project in (DEV, "acme.example:ml-test"):
        before.name(Declaration(project))
    shutil.rmtree(folder_of(home.state_folder, DEV))
    folder_of(home.state_folder, DEV).touch()
    assert [world.project.id for world in Projects(home).worlds()] == ["local-project", "acme.example:ml-test"]
    (told,) = (record for record in caplog.records if DEV in record.getMessage())
    assert told.levelname in ("WARNING", "ERROR")


def test_from_a_shell_a_project_is_named_by_its_id(two: LocalCloud) -> None:
    unnamed = two.command("env", "--project", "acme-ml-new")
    assert unnamed.returncode == 1 and "up --project acme-ml-new" in unnamed.stderr
    two.up("--project", "acme-ml-new")
    assert "GOOGLE_CLOUD_PROJECT=acme-ml-new" in two.command("env", "--project", "acme-ml-new").stdout
    nobody = two.command("env", "--as", "bob", "--project", "acme-ml-new")
    assert nobody.returncode == 2 and "bob is nobody in project acme-ml-new" in nobody.stderr
