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
    "package", bucket=catalog.name, name="packages/__main__.py", source=pulumi.FileAsset("__main__.py"),
)
trainer = gcp.serviceaccount.Account("trainer", account_id="trial-trainer", display_name="Trainer")
gcp.storage.BucketIAMMember("reads", bucket=catalog.name, role="roles/storage.objectViewer", member=trainer.member)
gcp.storage.BucketIAMMember("writes", bucket=catalog.name, role="roles/storage.objectCreator", member=trainer.member)
gcp.projects.IAMMember(
    "submits", project="slipway-local", role="roles/aiplatform.user", member="user:trial@slipway.example"
)
gcp.serviceaccount.IAMMember(
    "acts", service_account_id=trainer.name, role="roles/iam.serviceAccountUser", member="user:trial@slipway.example"
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


def test_a_workspace_from_create_to_destroy(program: Program, cloud: LocalCloud) -> None:
    program.write(_WORKSPACE)
    assert len(program.steps()) == 8
    program.up()
    assert program.run("stack", "output", "email").strip() == "trial-trainer@slipway-local.iam.gserviceaccount.com"
    assert program.steps() == {}
    program.run("refresh", "--yes", "--expect-no-changes")

    # Content is overwritten in place and is a secret wherever the engine shows it.
    program.run("config", "set", "content", '{"schema": 1}')
    (update,) = program.steps().values()
    shown = ["content", "crc32c", "detectMd5hash", "generation", "md5hash"]
    assert (update["op"], sorted(update["detailedDiff"])) == ("update", shown)
    assert update["newState"]["inputs"]["content"] == "[secret]"
    program.up()
    assert _text(cloud) == '{"schema": 1}'
    assert program.steps() == {}

    # What somebody else wrote there is overwritten by the next update.
    _overwrite(cloud, "not ours")
    program.run("refresh", "--yes")
    assert list(program.steps()) == ["update document"]
    program.up()
    assert _text(cloud) == '{"schema": 1}'

    # A changed file makes the new object, then deletes the old, which has the same name here.
    program.write(_WORKSPACE + "# changed\n")
    assert program.order() == ["create-replacement package", "replace package", "delete-replaced package"]
    program.up()
    assert not _exists(cloud, "/storage/v1/b/trial-catalog/o/packages%2F__main__.py")

    program.run("destroy", "--yes", "--skip-preview")
    assert not _exists(cloud, "/storage/v1/b/trial-catalog")
    assert not _exists(
        cloud, "/v1/projects/slipway-local/serviceAccounts/trial-trainer@slipway-local.iam.gserviceaccount.com"
    )
    policy = cloud.rest("POST", "/v1/projects/slipway-local:getIamPolicy", {})
    assert not [one for one in policy["bindings"] if "user:trial@slipway.example" in one["members"]]


def test_what_exists_is_adopted(program: Program, cloud: LocalCloud) -> None:
    cloud.rest("POST", "/storage/v1/b?project=slipway-local", {"name": "trial-adopted", "location": "us-central1"})
    account = {"accountId": "trial-adopted", "serviceAccount": {"displayName": "Adopted"}}
    cloud.rest("POST", "/v1/projects/slipway-local/serviceAccounts", account)
    email = "trial-adopted@slipway-local.iam.gserviceaccount.com"
    program.write(f"""
gcp.storage.Bucket(
    "bucket", name="trial-adopted", location="us-central1", opts=pulumi.ResourceOptions(import_="trial-adopted")
)
gcp.serviceaccount.Account(
    "account", account_id="trial-adopted", display_name="Adopted",
    opts=pulumi.ResourceOptions(import_="projects/slipway-local/serviceAccounts/{email}"),
)
""")
    assert set(program.steps()) == {"import bucket", "import account"}
    assert "2 imported" in program.up()
    assert program.steps() == {}
    program.run("destroy", "--yes", "--skip-preview")
    assert not _exists(cloud, "/storage/v1/b/trial-adopted")


def test_a_preference_is_made_and_left_behind(program: Program, cloud: LocalCloud) -> None:
    program.write("""
gcp.cloudquota.SQuotaPreference(
    "quota", name="trial-quota", parent="projects/slipway-local", service="aiplatform.googleapis.com",
    quota_id="CustomModelTrainingCPUsPerProjectPerRegion", dimensions={"region": "us-central1"},
    quota_config={"preferred_value": "4000"}, contact_email="owner@slipway.example",
)
""").up()
    assert program.steps() == {}
    program.run("destroy", "--yes", "--skip-preview")
    assert _exists(cloud, "/v1/projects/slipway-local/locations/global/quotaPreferences/trial-quota")


def test_what_the_plugin_does_not_know_is_refused_by_name(program: Program) -> None:
    said = program.write('gcp.compute.Network("net")').fails("preview")
    assert "does not know the type gcp:compute/network:Network" in said
    assert "SLIPWAY_GCP_PLUGIN=auto" in said


def test_a_token_in_the_program_is_refused_and_not_printed(program: Program) -> None:
    provider = 'pulumi.ResourceOptions(provider=gcp.Provider("p", access_token="s3cret"))'
    said = program.write(f'gcp.storage.Bucket("b", location="us", opts={provider})').fails("preview")
    assert "takes no accessToken" in said
    assert "s3cret" not in said


def test_an_explicit_provider_takes_its_endpoint_from_the_program(program: Program, cloud: LocalCloud) -> None:
    endpoint = f"{cloud.url}/storage/v1/"
    program.variables["GOOGLE_STORAGE_CUSTOM_ENDPOINT"] = ""
    program.write(f"""
provider = gcp.Provider("own", project="slipway-local", storage_custom_endpoint="{endpoint}",
    add_pulumi_attribution_label=False, default_labels={{"team": "ml"}})
gcp.storage.Bucket("b", name="trial-explicit", location="us-central1", labels={{"a": "b"}},
    opts=pulumi.ResourceOptions(provider=provider))
""").up()
    assert cloud.rest("GET", "/storage/v1/b/trial-explicit")["labels"] == {"a": "b", "team": "ml"}
    assert program.steps() == {}
    program.run("destroy", "--yes", "--skip-preview")
