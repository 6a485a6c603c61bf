"""Deletions by hand, where the Pulumi project refreshes nothing: `up` restores what it can, or says how. # N33"""

from collections.abc import Callable
from urllib.parse import quote

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.end_to_end.test_one_name_twice import running
from tests.end_to_end.test_own_program import write

pytestmark = pytest.mark.journey

PROGRAM = """
import components as slipway

ground = slipway.Workspace("ml", slipway.WorkspaceArgs(submitters=["group:ml-engineers@company.example"]))
pools = {"workers": slipway.PoolArgs(machine="n1-standard-4", replicas=2)}
cpu = slipway.PersistentResource("cpu", slipway.PersistentResourceArgs(pools=pools))
nap = slipway.JobTemplate("nap", slipway.JobTemplateArgs(clusters=[cpu]))
quota = slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[cpu], templates=[nap]))
slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, templates=[nap], quota=quota))
"""
CATALOG, WORK = (f"{PROJECT}-slipway--trial--ml-{kind}" for kind in ("catalog", "work"))
OBJECT = f"/storage/v1/b/{CATALOG}/o/catalog.json"
TRAINER = f"slipway--trial--ml--trainer@{PROJECT}.iam.gserviceaccount.com"


def deployed(checkout: Checkout) -> None:
    project = checkout.folder / "Pulumi.yaml"
    settings = yaml.safe_load(project.read_text())
    assert settings.pop("options") == {"refresh": "always"}
    project.write_text(yaml.safe_dump(settings))
    write(checkout, PROGRAM)
    checkout.up()


def nothing_changes(checkout: Checkout) -> None:
    for flags in ((), ("--refresh",)):
        done = checkout.pulumi("preview", "--expect-no-changes", *flags)
        assert done.code == 0, done.said


def objects(checkout: Checkout, bucket: str, prefix: str = "") -> list[str]:
    listed = checkout.cloud.every(f"/storage/v1/b/{bucket}/o?prefix={prefix}", "items")
    return [str(entry["name"]) for entry in listed]


def delete(checkout: Checkout, bucket: str, name: str) -> None:
    checkout.cloud.rest("DELETE", f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}")


def runs(checkout: Checkout) -> None:
    job = running(checkout, seconds=0, state="JOB_STATE_SUCCEEDED")
    assert job


def test_the_catalog_and_the_packages_are_restored(checkout: Checkout) -> None:
    deployed(checkout)
    nothing_changes(checkout)
    for busy in (False, True):
        job = running(checkout) if busy else ""
        delete(checkout, CATALOG, "catalog.json")
        said = checkout.pulumi("preview").said
        assert "this deployment restores the catalog" in said and "1 to update" in said, said
        said = checkout.up()
        assert "this deployment restores the catalog" in said and "1 updated" in said, said
        nothing_changes(checkout)
    assert checkout.job_state(job) == "JOB_STATE_RUNNING"
    checkout.cloud.rest("POST", f"/v1/{job}:cancel", {})

    # Killed before it has written anything, and in other hands meanwhile.
    delete(checkout, CATALOG, "catalog.json")
    up = checkout.begin("up")
    up.until(lambda: "restores the catalog" in up.said, "it is planned")
    up.kill()
    checkout.run("pulumi", "cancel", "--yes", "--stack", checkout.stack, role="deployer")
    checkout.up()
    nothing_changes(checkout)
    upload = f"/upload/storage/v1/b/{CATALOG}/o?uploadType=media&name=catalog.json"
    checkout.cloud.rest("POST", upload, {"schema": 2})
    said = checkout.up()
    assert "is not the catalog that the last deployment published" in said, said
    nothing_changes(checkout)

    (package,) = objects(checkout, CATALOG, "packages/")
    delete(checkout, CATALOG, package)
    said = checkout.up()
    assert f"this deployment restores {package}" in said, said
    assert objects(checkout, CATALOG, "packages/") == [package]
    nothing_changes(checkout)
    runs(checkout)

    cluster = checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources")[0]["name"]
    checkout.cloud.rest("DELETE", f"/v1/{cluster}")
    checkout.up()
    nothing_changes(checkout)
    runs(checkout)


def without_bucket(bucket: str) -> Callable[[Checkout], None]:
    def deleted(checkout: Checkout) -> None:
        at = f"/storage/v1/b/{bucket}/o"
        for entry in checkout.cloud.every(f"{at}?versions=true", "items"):
            name = quote(str(entry["name"]), safe="")
            checkout.cloud.rest("DELETE", f"{at}/{name}?generation={entry['generation']}")
        checkout.cloud.rest("DELETE", f"/storage/v1/b/{bucket}")

    return deleted


def without_account(checkout: Checkout) -> None:
    checkout.cloud.rest("DELETE", f"/v1/projects/{PROJECT}/serviceAccounts/{TRAINER}")


@pytest.mark.parametrize(
    ("deletes", "name"),
    [
        (without_bucket(WORK), f"bucket gs://{WORK}"),
        (without_bucket(CATALOG), f"bucket gs://{CATALOG}"),
        (without_account, f"account {TRAINER}"),
    ],
    ids=["work bucket", "catalog bucket", "account"],
)
def test_a_bucket_or_an_account_needs_the_refresh_that_the_error_names(
    checkout: Checkout, deletes: Callable[[Checkout], None], name: str
) -> None:
    deployed(checkout)
    deletes(checkout)
    said = checkout.pulumi("preview").said
    assert f"still in its state: {name}" in said and "pulumi up --refresh --stack trial" in said, said
    failed = checkout.pulumi("up")
    assert failed.code != 0 and f"the catalog is not published: {name} was deleted" in failed.said, failed.said
    done = checkout.pulumi("up", "--refresh")
    assert done.code == 0, done.said
    nothing_changes(checkout)
    runs(checkout)


def test_a_revoked_role_is_reported_with_the_command_that_grants_it_again(checkout: Checkout) -> None:
    deployed(checkout)
    at = f"/v1/projects/{PROJECT}"
    policy = checkout.cloud.rest("POST", f"{at}:getIamPolicy", {})
    before = policy["bindings"]
    policy["bindings"] = [binding for binding in before if binding["role"] != "roles/aiplatform.user"]
    assert len(policy["bindings"]) < len(before)
    checkout.cloud.rest("POST", f"{at}:setIamPolicy", {"policy": policy})
    role = "roles/aiplatform.user of group:ml-engineers@company.example on the project"
    for verb in ("preview", "up"):
        said = checkout.pulumi(verb).said
        assert f"still in its state: {role}" in said and "pulumi up --refresh --stack trial" in said, said
    done = checkout.pulumi("up", "--refresh")
    assert done.code == 0, done.said
    nothing_changes(checkout)
    assert "still in its state" not in checkout.pulumi("preview").said
