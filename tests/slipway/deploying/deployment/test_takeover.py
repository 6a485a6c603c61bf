"""A deployment with an empty state under a name in use is rejected, unless the person recovers it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.deploying.deployment.takeover import VARIABLE, is_recovered, refuse_takeover
from slipway.deploying.deployment.workspace_plan import trainer_display_name
from slipway.google.catalog.document import PublishedCatalog, as_published
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Unknown
from slipway.model.catalog.model import Catalog
from slipway.model.identity import Identity
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from tests.builders.stacks import workspace_entry

VISION = Identity("vision-infra", "dev")
STACK = Stack(
    "dev",
    "acme-ml-dev",
    "us-central1",
    workspace_entry((), "acme-catalog", "acme-work", "trainer"),
    pulumi_project="vision-infra",
)
NOTHING = Live(clusters=(), jobs=(), limits={}, catalog=None)
CATALOG = Catalog(
    "dev", "acme-ml-dev", "us-central1", "3f9c2e1", False, "w", "t", {}, (), {}, pulumi_project="vision-infra"
)


def cluster(label: str) -> PersistentResource:
    labels = {STACK_LABEL: label, NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}
    return PersistentResource("cpu-1a2b3c4", "RUNNING", labels, ())


def published(catalog: Catalog = CATALOG) -> Live:
    return replace(NOTHING, catalog=replace(as_published(catalog), age=timedelta(hours=2)))


@pytest.mark.parametrize(
    ("live", "words"),
    [
        (published(), "gs://acme-catalog has its catalog, of commit 3f9c2e1, published 2 h"),
        (published(replace(CATALOG, commit="unknown")), "gs://acme-catalog has its catalog, published 2 h"),
        (replace(NOTHING, clusters=(cluster(VISION.label),)), "it has cluster cpu-1a2b3c4 in acme-ml-dev"),
        (replace(NOTHING, service_accounts={"t@acme": trainer_display_name(VISION.label)}), "it has account t@acme"),
        (
            replace(NOTHING, catalog=PublishedCatalog(damage="half of it")),
            "acme-catalog has a catalog that does not name",
        ),
    ],
)
def test_what_exists_is_named_with_the_ways_on(live: Live, words: str) -> None:
    with pytest.raises(PolicyError, match="stack dev of Pulumi project vision-infra exists already") as refusal:
        refuse_takeover(STACK, live, {})
    assert words in refusal.value.why
    assert "choose another stack name" in refusal.value.fix
    assert f"{VARIABLE}=vision-infra/dev make up STACK=dev" in refusal.value.fix
    refuse_takeover(STACK, live, {VARIABLE: "vision-infra/dev"})


@pytest.mark.parametrize(
    "live",
    [
        NOTHING,
        replace(
            NOTHING, clusters=Unknown("denied", "api", "a role"), service_accounts=Unknown("denied", "api", "a role")
        ),
        replace(published(), skipped=True),
        published(replace(CATALOG, pulumi_project="speech-infra")),
        replace(NOTHING, clusters=(cluster(Identity("speech-infra", "dev").label),)),
        replace(NOTHING, service_accounts={"t@acme": "made by hand"}),
    ],
)
def test_another_deployments_things_and_those_of_nobody_reject_nothing(live: Live) -> None:
    refuse_takeover(STACK, live, {})


@pytest.mark.parametrize("given", ["dev", "speech-infra/dev", "vision-infra/dev/ml", "1"])
def test_another_name_recovers_nothing(given: str) -> None:
    with pytest.raises(ConfigError, match="is not this deployment") as refusal:
        is_recovered({VARIABLE: given}, VISION)
    assert "vision-infra/dev" in refusal.value.fix


def test_the_variable_is_read_for_one_run() -> None:
    assert is_recovered({VARIABLE: " vision-infra/dev "}, VISION) and not is_recovered({}, VISION)


def test_a_catalog_that_can_not_be_read_may_be_anothers() -> None:
    live = replace(NOTHING, catalog=Unknown("HTTP 403: denied", "api", "a role"))
    with pytest.raises(
        ResourceError, match="can't determine whether stack dev of Pulumi project vision-infra"
    ) as refusal:
        refuse_takeover(STACK, live, {})
    assert "HTTP 403: denied" in refusal.value.why and "choose another stack name" in refusal.value.fix
    refuse_takeover(STACK, live, {VARIABLE: "vision-infra/dev"})
