"""A package is kept under its content's hash, the catalog under one name; quota is asked for. # D2 # D3 # N8"""

from pathlib import Path

import pulumi
import pytest
from pulumi.runtime.rpc import unwrap_rpc_secret

from components import Catalog, CatalogArgs, JobTemplate, JobTemplateArgs, QuotaCheck, Workspace
from slipway.authoring.packages.source_package import SourcePackage
from slipway.authoring.stack.entries import QuotaEntry
from slipway.google.catalog.document import write
from slipway.google.quota.request import QuotaRequest
from slipway.google.quotas import QuotaPreference
from tests.builders import catalogs

from .conftest import FACTS, PROJECT, Asked, Decided, composed, every, only

OBJECT = "gcp:storage/bucketObject:BucketObject"
CATALOG = catalogs.catalog(catalogs.template("nap"), retiring=("cpu-0000000",))


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def published() -> list[Asked]:
    package = SourcePackage("nap-0123456789ab.tar.gz", "0123456789ab", b"package")
    of_two_variants = {"first": package, "second": SourcePackage(package.name, "0123456789ab", b"package")}

    def program() -> None:
        workspace = Workspace("workspace")
        template = JobTemplate("nap", JobTemplateArgs(workspace=workspace))
        Catalog("catalog", CatalogArgs(workspace=workspace, templates=[template]))

    return composed(program, Decided(catalog=CATALOG, templates={"nap": of_two_variants}))


def test_the_package_lies_under_its_hash_and_stays() -> None:
    """Queued and restarting jobs still install it when the template has changed or gone."""
    package = every(published(), OBJECT)["nap-0123456789ab"]
    assert package.inputs["name"] == "packages/nap-0123456789ab.tar.gz"
    assert package.inputs["bucket"] == "acme-catalog"
    assert isinstance(package.inputs["source"], pulumi.FileAsset)
    assert Path(package.inputs["source"].path).read_bytes() == b"package"
    assert package.request.retainOnDelete
    assert package.parent == "nap"


def test_the_catalog_is_one_object_that_is_overwritten_after_all_it_speaks_of() -> None:
    asked = published()
    catalog = every(asked, OBJECT)["catalog"]
    assert (catalog.inputs["name"], catalog.inputs["contentType"]) == ("catalog.json", "application/json")
    # The provider treats every content as a secret.
    assert unwrap_rpc_secret(catalog.inputs["content"]) == write(CATALOG)
    assert {"nap", "nap-0123456789ab"} & catalog.depends_on and not catalog.request.retainOnDelete
    for component in ("JobTemplate", "Catalog"):
        assert only(asked, f"slipway:index:{component}").inputs == FACTS


PREFERENCE = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
H100 = QuotaRequest("gpus", "us-central1", "H100GPUs", "h100-us-central1", value=16, wanted=16)


def check(*requests: QuotaRequest) -> list[Asked]:
    quota = QuotaEntry(mode="request", contact_email="ml@acme.example", justification="training")
    return composed(lambda: QuotaCheck("quota"), Decided(requests=requests, quota=quota))


def test_what_is_asked_for_is_a_preference_each_and_outlives_the_stack() -> None:  # Z2
    cpus = QuotaRequest("cpus", "us-central1", "CPUs", "cpus-us-central1", value=64, wanted=64)
    asked = every(check(H100, cpus), PREFERENCE)
    assert asked.keys() == {"gpus", "cpus"}
    assert asked["gpus"].inputs == {
        "name": "h100-us-central1",
        "parent": f"projects/{PROJECT}",
        "service": "aiplatform.googleapis.com",
        "quotaId": "H100GPUs",
        "dimensions": {"region": "us-central1"},
        "quotaConfig": {"preferredValue": "16"},
        "contactEmail": "ml@acme.example",
        "justification": "training",
    }
    request = asked["gpus"].request
    assert (asked["gpus"].parent, request.retainOnDelete) == ("quota", True)
    assert (request.importId, list(request.ignoreChanges)) == ("", [])


def test_one_that_is_there_is_taken_over_and_sent_again_only_to_ask_for_more() -> None:  # Z2
    there = QuotaPreference("by-hand", "H100GPUs", "us-central1", 16, 8)
    theirs = QuotaRequest("gpus", "us-central1", "H100GPUs", "by-hand", value=16, wanted=16, there=there)
    request = only(check(theirs), PREFERENCE).request
    assert request.importId == f"projects/{PROJECT}/locations/global/quotaPreferences/by-hand"
    assert list(request.ignoreChanges) == ["*"]

    ours = QuotaRequest("gpus", "us-central1", "H100GPUs", "by-hand", 16, 16, there, known=True)
    request = only(check(ours), PREFERENCE).request
    assert (request.importId, list(request.ignoreChanges)) == ("", ["*"])

    more = QuotaRequest("gpus", "us-central1", "H100GPUs", "by-hand", 32, 32, there, known=True)
    asked = only(check(more), PREFERENCE)
    assert (asked.request.importId, list(asked.request.ignoreChanges)) == ("", [])
    assert asked.inputs["quotaConfig"] == {"preferredValue": "32"}
