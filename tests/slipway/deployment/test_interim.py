"""What is offered while clusters are being made: all else as it will be, and nobody loses what there is. # N1 # N2"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slipway.catalog import document
from slipway.catalog.model import Catalog
from slipway.catalog.withdrawal import withdrawn
from slipway.deployment.deployment import build_packages, plan_deployment, prove_stack
from slipway.deployment.interim_catalog import interim
from slipway.deployment.plan import Plan
from slipway.generations.action import What, Why
from slipway.labels import Revision

from .test_alternatives import ROOT
from .test_season_quota import DAY, NOW, Story, begun, proven
from .world import job

OF = "machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas"
ONE, TWO = (f"pools: {{ all: {{ {OF}: {count} }} }}" for count in (1, 2))
LARGER = "pools: { all: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 } }"


def deployed(*entries: str) -> Story:
    story = Story(proven(*entries, templates="alone"), limit=99)
    story.up()
    return story


def edited(story: Story, *entries: str) -> Story:
    story.proven = proven(*entries, templates="alone")
    return story


def during(story: Story, *made: str) -> Catalog:
    """As people read it. `made`: names of the new clusters that run."""
    whole, seen = story.decided().plan, story.seen()
    packages, revision = build_packages(story.proven, ROOT), Revision("4a0d3f2", dirty=False)

    def catalog_of(plan: Plan) -> Catalog:
        return plan_deployment(story.proven, packages, revision, seen, plan, preview=False, now=story.now).catalog

    catalog = interim(whole, seen, catalog_of)({one.id: one.id for one in whole.current if one.spec.name in made})
    return document.read(document.write(catalog), "x")


def pools(catalog: Catalog) -> dict[str, bool]:
    """By cluster whether the template can be sent there."""
    (template,) = catalog.templates.values()
    pool = [one for one in template.offers if one.capacity_type == "pool"]
    return {one.cluster or one.dormant: one.available for one in pool}


def test_a_new_one_is_said_to_come_and_all_else_is_deployed() -> None:
    story = edited(deployed(f"cpu: {{ {ONE} }}"), f"cpu: {{ {ONE}, retireWithin: 7d }}", f"late: {{ {ONE} }}")
    found = during(story)
    assert found.commit == "4a0d3f2" and found.clusters["cpu"].retire_within == 7 * 86400
    assert set(found.clusters) == {"cpu"} and pools(found) == {"cpu": True, "late": False}
    assert "late is not there yet" in found.dormant["late"].words
    assert pools(during(story, "late")) == {"cpu": True, "late": True}


def test_it_comes_by_no_date_so_that_a_deployment_that_lacks_it_fails() -> None:
    story = edited(deployed(f"cpu: {{ {ONE} }}"), f"cpu: {{ {ONE} }}", f"late: {{ {ONE} }}")
    story.catalog = document.published(document.write(during(story)), "catalog.json")
    (late,) = story.decided().plan.of(What.CREATE)
    assert late.why is Why.AWAITED


def test_one_that_follows_another_is_offered_as_that_until_it_runs() -> None:
    story = edited(deployed(f"cpu: {{ {ONE} }}"), f"cpu: {{ {TWO} }}")
    (old,) = story.clusters
    assert during(story).clusters == story.whole.clusters and pools(during(story)) == {"cpu": True}
    runs = during(story, "cpu")
    assert runs.clusters["cpu"].id != old and runs.retiring == (old,), "else the next deployment would not delete it"


def test_a_template_that_fits_only_what_is_made_goes_on_as_it_was(tmp_path: Path) -> None:
    """Both were edited in one change: until the new cluster runs, people submit to the old one."""
    story = deployed(f"cpu: {{ {ONE} }}")
    before = story.whole.templates
    text = (ROOT / "templates" / "alone.py").read_text()
    (tmp_path / "alone.py").write_text(text.replace("n1-standard-4", "n1-standard-8"))
    story.proven = prove_stack(replace(proven(f"cpu: {{ {LARGER} }}").stack, templates=("alone",)), tmp_path)
    found = during(story)
    assert found.templates == before and pools(found) == {"cpu": True}
    assert during(story, "cpu").templates != before


def test_one_whose_entry_is_gone_stays_as_another_may_come_in_its_place() -> None:
    story = edited(deployed(f"cpu: {{ {ONE} }}"), f"other: {{ {ONE} }}")
    (old,) = story.clusters
    assert pools(during(story)) == {"cpu": True, "other": False} and not during(story).retiring
    story.jobs = [job(old)]
    assert pools(during(story)) == {"cpu": True, "other": False} and not during(story).retiring


def test_one_whose_season_is_over_goes_before_what_is_made() -> None:
    story = deployed(f"cpu: {{ {ONE}, until: 2026-11-21 }}")
    story.now = NOW + DAY
    (old,) = story.clusters
    edited(story, f"cpu: {{ {ONE}, until: 2026-11-21 }}", f"late: {{ {ONE} }}")
    found = during(story)
    assert not found.clusters and set(found.dormant) == {"cpu", "late"}
    story.jobs = [job(old)]
    assert during(story).retiring == (old,)


def test_a_season_that_comes_is_as_it_was_and_one_that_could_not_be_made_says_so() -> None:
    story = begun(f"second: {{ {ONE}, from: 2026-11-21 }}")
    words = "cluster second waits for machines since its season began on 2026-11-21"
    assert during(story).dormant["second"].words == words
    assert story.decided().plan.actions[0].why is Why.SEASON


def test_what_an_earlier_deployment_withdrew_to_replace_it_is_not_forgotten() -> None:
    story = edited(deployed(f"cpu: {{ {ONE} }}"), f"cpu: {{ {TWO}, replacement: in-place }}")
    before = withdrawn(story.whole, list(story.clusters), NOW)
    story.catalog = document.published(document.write(before), "catalog.json")
    story.clusters.clear()
    assert during(story).dormant == before.dormant


@pytest.mark.parametrize("catalog", [None, document.PublishedCatalog(damage="gone bad")])
def test_a_first_deployment_offers_what_runs(catalog: document.PublishedCatalog | None) -> None:
    story = Story(proven(f"a: {{ {ONE} }}", f"b: {{ {ONE} }}", templates="alone"), limit=99, catalog=catalog)
    assert pools(during(story)) == {"a": False, "b": False}
    assert pools(during(story, "a")) == {"a": True, "b": False}
