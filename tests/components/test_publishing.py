"""A package is kept under its content's hash, the catalog under one name, after everything else. # D3 # N8"""

from pathlib import Path

import pytest
from pulumi.runtime.rpc import unwrap_rpc_secret

from components.catalog import Catalog, JobTemplate
from slipway.authoring.packages.source_package import SourcePackage
from slipway.google.catalog.document import read
from slipway.model.catalog import model
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Template

from .conftest import FACTS, Asked, declared, every, only, pulumi

OBJECT = "gcp:storage/bucketObject:BucketObject"
CATALOG = model.Catalog(
    stack="dev",
    project="acme-dev",
    region="us-central1",
    commit="3f9c2e1",
    dirty=True,
    work_bucket="acme-work",
    trainer="",
    clusters={"cpu": Cluster("cpu", (), id="cpu-1a2b3c4")},
    retiring=("cpu-0000000",),
    templates={"nap": Template("nap", "sleeps", "custom-job", (), (), ())},
)


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def published() -> list[Asked]:
    package = SourcePackage("nap-0123456789ab.tar.gz", "0123456789ab", b"package")

    def program() -> None:
        of_two_variants = [package, SourcePackage("nap-0123456789ab.tar.gz", "0123456789ab", b"package")]
        template = JobTemplate("nap", facts=FACTS, packages=of_two_variants, bucket="acme-catalog")
        Catalog("catalog", catalog=CATALOG, facts=FACTS, bucket="acme-catalog", after=[template])

    return declared(program)


def text(catalog: Asked) -> str:
    """The object's content, which the provider treats as a secret."""
    return str(unwrap_rpc_secret(catalog.inputs["content"]))


def test_a_template_publishes_its_facts() -> None:
    assert only(published(), "slipway:components:JobTemplate").inputs == FACTS


def test_an_image_needs_no_package() -> None:
    asked = declared(lambda: JobTemplate("nap", facts=FACTS, packages=(), bucket="acme-catalog"))
    assert every(asked, OBJECT) == {}


def test_the_package_lies_under_its_hash_and_stays() -> None:
    """Queued and restarting jobs still install it when the template has changed or gone."""
    package = every(published(), OBJECT)["nap-0123456789ab"]
    assert package.inputs["name"] == "packages/nap-0123456789ab.tar.gz"
    assert package.inputs["bucket"] == "acme-catalog"
    assert isinstance(package.inputs["source"], pulumi.FileAsset)
    assert Path(package.inputs["source"].path).read_bytes() == b"package"
    assert package.request.retainOnDelete
    assert package.parent == "nap"


def test_the_catalog_is_one_object_that_is_overwritten() -> None:
    catalog = every(published(), OBJECT)["catalog"]
    assert catalog.inputs["name"] == "catalog.json"
    assert read(text(catalog), "here") == CATALOG
    assert catalog.inputs["contentType"] == "application/json"
    assert not catalog.request.retainOnDelete


def test_the_catalog_comes_after_all_it_speaks_of() -> None:
    catalog = every(published(), OBJECT)["catalog"]
    assert {"nap", "nap-0123456789ab"} & catalog.depends_on


def test_the_catalog_publishes_its_facts() -> None:
    assert only(published(), "slipway:components:Catalog").inputs == FACTS


def test_the_same_document_is_the_same_text() -> None:
    texts = {text(every(published(), OBJECT)["catalog"]) for _ in range(2)}
    assert len(texts) == 1
