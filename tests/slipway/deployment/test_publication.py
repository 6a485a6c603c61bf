"""What a deployment publishes has been read before, as everybody who submits reads it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from slipway.catalog import document
from slipway.catalog.document import read, write
from slipway.catalog.model import Catalog, Parameter
from slipway.cluster import ClusterSpec, CurrentCluster
from slipway.deployment.actions import of_current, resting
from slipway.deployment.plan import Plan
from slipway.deployment.publication import asleep, catalog_of, compile_context, draws, readable, template_entry
from slipway.errors import ConfigError
from slipway.generations.dormant import Dormancy
from slipway.labels import Revision
from slipway.live import Live
from slipway.quota.assessment import assess
from slipway.quota.report import QuotaReport
from slipway.season import Season
from slipway.stack.stack import Stack, TrainerSettings, WorkspaceSettings
from slipway.template.proof import StackResources, prove
from tests.slipway.catalog.test_document import published
from tests.slipway.template.conftest import cluster, template


def catalog(**changes: Any) -> Catalog:
    found = read(published(), "gs://acme-dev-catalog/catalog.json")
    template = replace(found.templates["dask-digits"], **changes)
    return replace(found, templates={template.name: template})


def test_what_everybody_can_read_is_published_as_it_is() -> None:
    good = catalog()
    assert readable(good) is good


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"summary": 5}, "templates.dask-digits.summary is 5, where a string is expected"),
        ({"summary": "\ud800"}, "surrogates not allowed"),
        ({"parameters": (Parameter("t", "float", max=float("inf")),)}, "Infinity is not finite"),
        ({"parameters": (Parameter("t", "int", "x"),)}, "parameters[0].default is 'x', which is not of type int"),
        ({"parameters": (Parameter("t", "int", 10**5000),)}, "digits"),
        ({"code_why": object()}, "JSON serializable"),
    ],
    ids=("summary", "half a character", "bound", "default", "large", "object"),
)
def test_what_nobody_could_read_is_refused_before_it_is_published(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match="nobody could read the catalog that this would publish") as error:
        readable(catalog(**changes))
    assert why in error.value.why and "templates/" in error.value.fix


STACK = Stack("dev", "acme", "us-central1", WorkspaceSettings((), "acme-dev-catalog", "acme-dev-work", "trainer"))
REVISION = Revision("3f9c2e1", dirty=False)
JANUARY = datetime(2027, 1, 10, tzinfo=UTC)
RESTING = "cluster cpu is out of season until 2027-01-10"


def deployed(*capacity_types: str, beside: tuple[ClusterSpec, ...] = ()) -> tuple[Catalog, QuotaReport]:
    """A template on a cluster that is out of season, and on those beside it: as everybody reads it, with the report."""
    asked = template(capacity_types=capacity_types)
    rests = cluster(season=Season(begins=JANUARY), kms_key="projects/p/locations/r/keyRings/r/cryptoKeys/k")
    current = tuple(CurrentCluster(one, f"{one.name}-1111111", "1111111", import_=False) for one in beside)
    dormant = (Dormancy(rests, "cpu-1a2b3c4", "season"),)
    placements = asleep(prove(asked, StackResources((rests, *beside), region=STACK.region)), dormant)
    live = Live(clusters=(), jobs=(), limits={}, catalog=None)
    offers = draws(asked, placements)
    report = assess(current, live, region=STACK.region, offers=offers, strict=True, preview=True)
    plan = Plan((*map(of_current, current), *map(resting, dormant)))
    context = compile_context(STACK, REVISION, plan)
    packages = dict.fromkeys(asked.packages, "packages/p.tar.gz")
    entry = template_entry(asked, placements, report.offers[asked.name], context, packages)
    return read(write(readable(catalog_of(context, STACK, plan, {asked.name: entry}))), "gs://c/catalog.json"), report


def test_an_offer_on_a_dormant_cluster_is_unavailable_in_words_and_others_are_taken() -> None:  # B6
    catalog, report = deployed("pool", "spot")
    pool, spot = catalog.templates["dask-digits"].offers
    assert (pool.available, pool.why, pool.cluster, pool.dormant, pool.pools) == (False, RESTING, "", "cpu", ())
    assert (spot.available, spot.dormant) == (True, "")
    assert pool.label("custom-job", with_cluster=True) == "pool cpu"
    assert pool.request["jobSpec"]["persistentResourceId"] == "cpu-1a2b3c4" and "encryptionSpec" in pool.request
    assert catalog.clusters == {} and catalog.dormant["cpu"].words == RESTING
    assert catalog.dormant["cpu"].pools["workers"].price_per_hour.known
    assert not any("cpu" in line and "unavailable" in line for line in report.errors), "which is meant so"


def test_the_accounts_of_all_trainers_are_published() -> None:  # P5 N1
    """By what a submission needs: an account that is still offered is not deleted before its time."""
    stack = replace(STACK, trainers={"evals": TrainerSettings("evals-1")})
    found = catalog_of(compile_context(stack, REVISION, Plan()), stack, Plan(), {})
    evals = "evals-1@acme.iam.gserviceaccount.com"
    assert read(write(found), "gs://c/catalog.json").trainers == {"evals": evals}
    assert document.published(write(found), "gs://c/catalog.json").offers(evals)
    assert not document.published(write(replace(found, trainers={})), "gs://c/catalog.json").offers(evals)


def test_a_template_that_fits_only_a_dormant_cluster_is_no_error() -> None:  # B6
    catalog, report = deployed("pool")
    assert [one.why for one in catalog.templates["dask-digits"].offers] == [RESTING]
    assert report.errors == () and report.warnings == ()


def test_the_same_capacity_type_on_another_cluster_stays_available() -> None:  # B6
    catalog, _ = deployed("pool", beside=(cluster(name="big"),))
    offers = catalog.templates["dask-digits"].offers
    assert [(one.cluster, one.dormant, one.available) for one in offers] == [("", "cpu", False), ("big", "", True)]
