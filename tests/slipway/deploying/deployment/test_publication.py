"""Publication of a catalog: of alternatives and while clusters are being made, too. # N1 # N2 # P2"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.stack.config import TrainerEntry
from slipway.authoring.stack.stack import Stack
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.errors import ConfigError
from slipway.deploying.deployment.actions import of_current, resting
from slipway.deploying.deployment.deployment import Deployment, build_packages, plan_deployment, prove_stack
from slipway.deploying.deployment.interim_catalog import interim
from slipway.deploying.deployment.plan import Plan, as_made
from slipway.deploying.deployment.publication import (
    catalog_of,
    compile_context,
    draws,
    mark_dormant,
    readable,
    template_entry,
)
from slipway.deploying.deployment.summary import made_otherwise
from slipway.deploying.generations.action import What, Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.google.catalog import document
from slipway.google.catalog.document import read, write
from slipway.google.live import Live, QuotaLimit
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import QuotaReport
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Parameter
from slipway.model.cluster import ClusterSpec, CurrentCluster
from slipway.model.labels import Revision
from slipway.model.season import Season
from tests.builders.stacks import workspace_entry
from tests.builders.templates import job_template as template
from tests.slipway.authoring.stack.files import read as parsed
from tests.slipway.authoring.stack.files import with_config
from tests.slipway.authoring.template.conftest import cluster
from tests.slipway.google.catalog.test_document import published

from .test_season_quota import DAY, NOW, Story, begun, proven
from .world import ROOT, job, planned_for


def catalog(**changes: Any) -> Catalog:
    catalog_read = read(published(), "gs://acme-dev-catalog/catalog.json")
    template = replace(catalog_read.templates["dask-digits"], **changes)
    return replace(catalog_read, templates={template.name: template})


UNREADABLE = {
    "summary": ({"summary": 5}, "templates.dask-digits.summary is 5, where a string is expected"),
    "half a character": ({"summary": "\ud800"}, "surrogates not allowed"),
    "bound": ({"parameters": (Parameter("t", "float", max=float("inf")),)}, "Infinity is not finite"),
    "large": ({"parameters": (Parameter("t", "int", 10**5000),)}, "digits"),
    "object": ({"code_why": object()}, "JSON serializable"),
}


@pytest.mark.parametrize(("changes", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_nobody_could_read_is_refused_before_it_is_published(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match="nobody could read the catalog that this would publish") as error:
        readable(catalog(**changes))
    assert why in error.value.why and "templates/" in error.value.fix


STACK = Stack("dev", "acme", "us-central1", workspace_entry((), "acme-dev-catalog", "acme-dev-work", "trainer"))
REVISION = Revision("3f9c2e1", dirty=False)
JANUARY = datetime(2027, 1, 10, tzinfo=UTC)
RESTING = "cluster cpu is out of season until 2027-01-10"


def deployed(*capacity_types: str, beside: tuple[ClusterSpec, ...] = ()) -> tuple[Catalog, QuotaReport]:
    """A template on a cluster that is out of season, and on those beside it: as everybody reads it, with the report."""
    asked = template(capacity_types=capacity_types)
    rests = cluster(season=Season(begins=JANUARY), kms_key="projects/p/locations/r/keyRings/r/cryptoKeys/k")
    current = tuple(CurrentCluster(row, f"{row.name}-1111111", "1111111", import_=False) for row in beside)
    dormant = (Dormancy(rests, "cpu-1a2b3c4", "season"),)
    placements = mark_dormant(prove(asked, StackResources((rests, *beside), region=STACK.region)), dormant)
    live = Live(clusters=(), jobs=(), limits={}, catalog=None)
    offers = draws(asked, placements)
    report = assess(current, live, region=STACK.region, offers=offers, strict=True, preview=True)
    plan = Plan((*map(of_current, current), *map(resting, dormant)))
    context = compile_context(STACK, REVISION, plan)
    packages = dict.fromkeys(asked.uploaded, "packages/p.tar.gz")
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
    assert catalog.dormant["cpu"].pools[-1].price_per_hour.known
    assert not any("cpu" in line and "unavailable" in line for line in report.errors), "which is meant so"


def test_the_accounts_of_all_trainers_are_published() -> None:  # P5 N1
    """An account that is still offered is not deleted before its time."""
    stack = replace(STACK, trainers={"evals": TrainerEntry(account="evals-1")})
    catalog_read = catalog_of(compile_context(stack, REVISION, Plan()), stack, Plan(), {})
    evals = "evals-1@acme.iam.gserviceaccount.com"
    assert read(write(catalog_read), "gs://c/catalog.json").trainers == {"evals": evals}
    assert document.published(write(catalog_read), "gs://c/catalog.json").offers(evals)


IN_NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
OPEN = parsed(
    with_config(
        """
        slipway:templates: [crew]
        slipway:persistentResources:
          cpu:
            pools:
              head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 }
              workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 1, max: 4 } }
            alternatives:
              - pools: { workers: { machine: n1-standard-16, replicas: { min: 1, max: 2 } } }
        """
    )
)
PROVEN = prove_stack(OPEN, ROOT / "templates")
SHORT = "custom_model_training_cpus"
LIMITS = {metric: QuotaLimit(metric, OPEN.region, 15 if metric == SHORT else 10_000) for metric in PROVEN.metrics}
LIVE = Live(clusters=(), jobs=(), limits=LIMITS, catalog=None)


def decided() -> Plan:
    return planned_for(OPEN, LIVE, IN_NOVEMBER)


def deployment_of(of: Plan) -> Deployment:
    proven, packages = build_packages(PROVEN, ROOT)
    return plan_deployment(proven, packages, Revision("3f9c2e1", dirty=False), LIVE, of, preview=True, now=IN_NOVEMBER)


def test_preview_says_of_an_alternative_for_whom_it_is_not_and_whether_quota_suffices() -> None:
    deployment = deployment_of(decided())
    lacking, unfit = [warning for warning in deployment.warnings if "alternative 1" in warning]
    assert "alternative 1 is not for" in unfit and "crew: worker pool workers needs" in unfit
    assert "alternative 1 would be refused" in lacking and SHORT in lacking and deployment.report.errors == ()


def test_what_was_made_is_published_and_what_does_not_fit_it_is_no_error() -> None:
    before = decided()
    first, other = before.current[0].id, before.current[0].alternatives[0].id
    after = as_made(before, {first: other})
    deployment = deployment_of(after)
    deployment.refuse()
    cluster = deployment.catalog.clusters["cpu"]
    assert (cluster.id, cluster.alternative, cluster.alternatives) == (other, 1, ())
    assert cluster.pools[-1].machine.type == "n1-standard-16"
    offer = next(item for item in deployment.catalog.templates["crew"].offers if item.capacity_type == "pool")
    assert (offer.available, offer.cluster, offer.dormant) == (False, "", "cpu")
    assert "only as asked for first" in offer.why
    (line,) = made_otherwise(before, after, PROVEN.templates.values(), OPEN.region)
    assert f"{other} as its alternative 1, $" in line
    assert "not offered on it: crew" in line
    assert tuple(made_otherwise(before, before, (), OPEN.region)) == ()


OF = "machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas"
ONE, TWO = (f"pools: {{ all: {{ {OF}: {count} }} }}" for count in (1, 2))
LARGER = "pools: { all: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 } }"


def having(*entries: str) -> Story:
    story = Story(proven(*entries, templates="alone"), limit=99)
    story.up()
    return story


def edited(story: Story, *entries: str) -> Story:
    story.proven = proven(*entries, templates="alone")
    return story


def during(story: Story, *made: str) -> Catalog:
    """Return the catalog as people read it. `made`: names of the new clusters that run."""
    whole, seen = story.decided().plan, story.seen()
    (proven, packages), revision = build_packages(story.proven, ROOT), Revision("4a0d3f2", dirty=False)

    def catalog_of(plan: Plan) -> Catalog:
        return plan_deployment(proven, packages, revision, seen, plan, preview=False, now=story.now).catalog

    catalog = interim(whole, seen, catalog_of)(
        {cluster.id: cluster.id for cluster in whole.current if cluster.spec.name in made}
    )
    return document.read(document.write(catalog), "x")


def pools(catalog: Catalog) -> dict[str, bool]:
    """By cluster whether the template can be sent there."""
    (template,) = catalog.templates.values()
    pool = [offer for offer in template.offers if offer.capacity_type == "pool"]
    return {offer.cluster or offer.dormant: offer.available for offer in pool}


def test_a_new_one_is_said_to_come_and_all_else_is_deployed() -> None:
    story = edited(having(f"cpu: {{ {ONE} }}"), f"cpu: {{ {ONE}, retireWithin: 7d }}", f"late: {{ {ONE} }}")
    phases = during(story)
    assert phases.commit == "4a0d3f2" and phases.clusters["cpu"].retire_within == timedelta(days=7)
    assert set(phases.clusters) == {"cpu"} and pools(phases) == {"cpu": True, "late": False}
    assert "late is not there yet" in phases.dormant["late"].words
    assert pools(during(story, "late")) == {"cpu": True, "late": True}
    story.catalog = document.published(document.write(phases), "catalog.json")
    (late,) = story.decided().plan.of(What.CREATE)
    assert late.why is Why.AWAITED, "it comes by no date, so that a deployment that lacks it fails"


def test_one_that_follows_another_is_offered_as_that_until_it_runs() -> None:
    story = edited(having(f"cpu: {{ {ONE} }}"), f"cpu: {{ {TWO} }}")
    (old,) = story.clusters
    assert during(story).clusters == story.whole.clusters and pools(during(story)) == {"cpu": True}
    runs = during(story, "cpu")
    assert runs.clusters["cpu"].id != old and runs.retiring == (old,), "else the next deployment would not delete it"


def test_a_template_that_fits_only_what_is_made_goes_on_as_it_was(tmp_path: Path) -> None:
    """Both were edited in one change: until the new cluster runs, people submit to the old one."""
    story = having(f"cpu: {{ {ONE} }}")
    before = story.whole.templates
    text = (ROOT / "templates" / "alone.py").read_text()
    (tmp_path / "alone.py").write_text(text.replace("n1-standard-4", "n1-standard-8"))
    story.proven = prove_stack(replace(proven(f"cpu: {{ {LARGER} }}").stack, templates=("alone",)), tmp_path)
    phases = during(story)
    assert phases.templates == before and pools(phases) == {"cpu": True}
    assert during(story, "cpu").templates != before


def test_one_whose_entry_is_gone_stays_as_another_may_come_in_its_place() -> None:
    story = edited(having(f"cpu: {{ {ONE} }}"), f"other: {{ {ONE} }}")
    (old,) = story.clusters
    assert pools(during(story)) == {"cpu": True, "other": False} and not during(story).retiring
    story.jobs = [job(old)]
    assert pools(during(story)) == {"cpu": True, "other": False} and not during(story).retiring


def test_one_whose_season_is_over_goes_before_what_is_made() -> None:
    story = having(f"cpu: {{ {ONE}, until: 2026-11-21 }}")
    story.now = NOW + DAY
    (old,) = story.clusters
    edited(story, f"cpu: {{ {ONE}, until: 2026-11-21 }}", f"late: {{ {ONE} }}")
    phases = during(story)
    assert not phases.clusters and set(phases.dormant) == {"cpu", "late"}
    story.jobs = [job(old)]
    assert during(story).retiring == (old,)


def test_a_season_that_comes_is_as_it_was_and_one_that_could_not_be_made_says_so() -> None:
    story = begun(f"second: {{ {ONE}, from: 2026-11-21 }}")
    words = "cluster second waits for machines since its season began on 2026-11-21"
    assert during(story).dormant["second"].words == words
    assert story.decided().plan.actions[0].why is Why.SEASON


def test_a_first_deployment_offers_what_runs() -> None:
    for catalog in (None, document.PublishedCatalog(damage="gone bad")):
        story = Story(proven(f"a: {{ {ONE} }}", f"b: {{ {ONE} }}", templates="alone"), limit=99, catalog=catalog)
        assert pools(during(story)) == {"a": False, "b": False}
        assert pools(during(story, "a")) == {"a": True, "b": False}
