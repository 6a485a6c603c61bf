"""Buckets, objects, accounts and members through the real engine."""

import pytest
import requests

from tests.local.conftest import LocalCloud
from tests.local.plugin.programs import Program

pytestmark = pytest.mark.journey

_WORKSPACE = """
config = pulumi.Config()
catalog = gcp.storage.Bucket(
    "catalog", name="trial-catalog", location="us-central1", uniform_bucket_level_access=True,
    versioning={"enabled": True}, force_destroy=True, public_access_prevention="enforced",
    soft_delete_policy={"retention_duration_seconds": 0}, labels={"slipway-stack": "dev"},
    lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 30, "matches_prefixes": ["packages/"]}}],
)
document = gcp.storage.BucketObject(
    "document", bucket=catalog.name, name="catalog.json", content=config.get("content") or "{}",
    content_type="application/json",
)
package = gcp.storage.BucketObject(
    "package", bucket=catalog.name, name="packages/task.py", source=pulumi.FileAsset("task.py"),
)
trainer = gcp.serviceaccount.Account("trainer", account_id="trial-trainer", display_name="Trainer")
gcp.storage.BucketIAMMember("reads", bucket=catalog.name, role="roles/storage.objectViewer", member=trainer.member)
gcp.storage.BucketIAMMember("writes", bucket=catalog.name, role="roles/storage.objectCreator", member=trainer.member)
gcp.projects.IAMMember(
    "submits", project="local-project", role="roles/aiplatform.user", member="user:trial@company.example"
)
gcp.serviceaccount.IAMMember(
    "acts", service_account_id=trainer.name, role="roles/iam.serviceAccountUser", member="user:trial@company.example"
)
pulumi.export("email", trainer.email)
"""
_CONTENT = "/storage/v1/b/trial-catalog/o/catalog.json?alt=media"


def _text(cloud: LocalCloud) -> str:
    headers = {"Authorization": f"Bearer {cloud.token()}"}
    return requests.get(cloud.url + _CONTENT, headers=headers, timeout=30).text


def _overwrite(cloud: LocalCloud, content: str) -> None:
    url = f"{cloud.url}/upload/storage/v1/b/trial-catalog/o?uploadType=media&name=catalog.json"
    headers = {"Authorization": f"Bearer {cloud.token()}", "Content-Type": "application/json"}
    requests.post(url, data=content, headers=headers, timeout=30).raise_for_status()


def _exists(cloud: LocalCloud, path: str) -> bool:
    headers = {"Authorization": f"Bearer {cloud.token()}"}
    return requests.get(cloud.url + path, headers=headers, timeout=30).status_code == 200


_ADOPTED = """
gcp.storage.Bucket(
    "bucket", name="trial-adopted", location="us-central1", opts=pulumi.ResourceOptions(import_="trial-adopted")
)
gcp.serviceaccount.Account(
    "account", account_id="trial-adopted", display_name="Adopted", opts=pulumi.ResourceOptions(
        import_="projects/local-project/serviceAccounts/trial-adopted@local-project.iam.gserviceaccount.com"
    ),
)
"""
# Of machines that no other test draws: what was granted can't be taken back.
_PREFERENCE = """
gcp.cloudquota.SQuotaPreference(
    "quota", name="trial-quota", parent="projects/local-project", service="aiplatform.googleapis.com",
    quota_id="CustomModelTrainingP100GPUsPerProjectPerRegion", dimensions={"region": "us-central1"},
    quota_config={"preferred_value": "64"}, contact_email="owner@company.example",
)
"""


def test_a_workspace_from_create_to_destroy(program: Program, cloud: LocalCloud) -> None:
    file = program.folder / "task.py"
    file.write_text("print('hello')\n")
    planned = program.write(_WORKSPACE + _PREFERENCE).preview()
    assert "create quota" in planned.steps
    assert len(planned.steps) == 8 + 1
    program.up()
    assert program.state().outputs["email"] == "trial-trainer@local-project.iam.gserviceaccount.com"
    assert program.preview().steps == {}
    program.run("refresh", "--yes", "--expect-no-changes")

    # Content is overwritten in place and is a secret wherever the engine shows it; what exists is adopted.
    _make_by_hand(cloud)
    everything = _WORKSPACE + _PREFERENCE + _ADOPTED
    program.configure({"trial:content": '{"schema": 1}'})
    planned = program.write(everything).preview()
    assert set(planned.steps) == {"update document", "import bucket", "import account"}
    update = planned.steps["update document"]
    shown = ["content", "crc32c", "detectMd5hash", "generation", "md5hash"]
    assert sorted(update["detailedDiff"]) == shown
    assert update["new"]["inputs"]["content"]["ciphertext"] == "[secret]"
    assert "2 imported" in program.up()
    assert _text(cloud) == '{"schema": 1}'

    # What somebody else wrote there is overwritten by the next update, which has nothing to do with what was adopted.
    # A changed file makes the new object, then deletes the old, which has the same name here.
    _overwrite(cloud, "not ours")
    program.run("refresh", "--yes")
    file.write_text("print('changed')\n")
    planned = program.preview()
    assert set(planned.steps) == {"update document", "replace package"}
    assert planned.order("package") == ["create-replacement package", "replace package", "delete-replaced package"]
    program.up()
    assert _text(cloud) == '{"schema": 1}'
    assert not _exists(cloud, "/storage/v1/b/trial-catalog/o/packages%2Ftask.py")

    program.run("destroy", "--yes", "--skip-preview")
    assert not _exists(cloud, "/storage/v1/b/trial-catalog")
    assert not _exists(
        cloud, "/v1/projects/local-project/serviceAccounts/trial-trainer@local-project.iam.gserviceaccount.com"
    )
    policy = cloud.rest("POST", "/v1/projects/local-project:getIamPolicy", {})
    assert not [one for one in policy["bindings"] if "user:trial@company.example" in one["members"]]
    # What was adopted goes too; a quota preference can't be deleted, and is left behind.
    assert not _exists(cloud, "/storage/v1/b/trial-adopted")
    assert _exists(cloud, "/v1/projects/local-project/locations/global/quotaPreferences/trial-quota")


def _make_by_hand(cloud: LocalCloud) -> None:
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": "trial-adopted", "location": "us-central1"})
    account = {"accountId": "trial-adopted", "serviceAccount": {"displayName": "Adopted"}}
    cloud.rest("POST", "/v1/projects/local-project/serviceAccounts", account)


def test_what_the_plugin_refuses_and_what_a_program_may_tell_it(program: Program, cloud: LocalCloud) -> None:
    said = program.write('gcp.compute.Network("net")').fails("preview")
    assert "the type gcp:compute/network:Network" in said
    assert "SLIPWAY_GCP_PLUGIN=auto" in said

    # A token in the program is refused, and not printed.
    provider = 'pulumi.ResourceOptions(provider=gcp.Provider("p", access_token="s3cret"))'
    said = program.write(f'gcp.storage.Bucket("b", location="us", opts={provider})').fails("preview")
    assert "takes no accessToken" in said
    assert "s3cret" not in said

    # An explicit provider takes its endpoint from the program.
    endpoint = f"{cloud.url}/storage/v1/"
    program.variables["GOOGLE_STORAGE_CUSTOM_ENDPOINT"] = ""
    program.write(f"""
provider = gcp.Provider("own", project="local-project", storage_custom_endpoint="{endpoint}",
    add_pulumi_attribution_label=False, default_labels={{"team": "ml"}})
gcp.storage.Bucket("b", name="trial-explicit", location="us-central1", labels={{"a": "b"}},
    opts=pulumi.ResourceOptions(provider=provider))
""").up()
    assert cloud.rest("GET", "/storage/v1/b/trial-explicit")["labels"] == {"a": "b", "team": "ml"}
    assert program.preview().steps == {}
