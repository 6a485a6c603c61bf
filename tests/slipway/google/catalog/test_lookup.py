"""Which template, as which kind, and the offers that apply to its parameters."""

from dataclasses import replace

import pytest

from slipway.base.errors import ConfigError
from slipway.google.catalog.lookup import (
    account_remedy,
    capacity_types,
    find_kind,
    find_template,
    named,
    remedy,
    standing,
    usual_offers,
)
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.cluster import Adoption
from slipway.model.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB
from slipway.model.origin import Program
from slipway.model.prices import UNKNOWN


def offer(name: str, kind: str = "custom-job", **when: tuple[Scalar, ...]) -> Offer:
    return Offer(name, True, "", "cpu" if name == "pool" else "", (), UNKNOWN, {}, kind, when)


def template(*offers: Offer, kinds: tuple[str, ...] = ("custom-job",)) -> Template:
    return Template("digits", "", kinds[0], (), (), offers, kinds)


def test_a_kind_is_the_templates_first_unless_another_is_asked_for() -> None:  # W5
    both = template(kinds=("custom-job", "hyperparameter-tuning-job"))
    assert find_kind(both, None) is CUSTOM_JOB
    assert find_kind(both, "hyperparameter-tuning-job") is TUNING_JOB
    assert find_kind(template(kinds=("training-pipeline",)), None) is PIPELINE


def test_a_kind_that_a_template_is_not_names_its_own_and_one_of_a_newer_version_says_to_update() -> None:
    with pytest.raises(ConfigError) as error:
        find_kind(template(), "training-pipeline")
    assert error.value.why == "its kinds are custom-job" and error.value.fix == "kind='custom-job'"
    with pytest.raises(ConfigError, match="which this version does not know"):
        find_kind(template(kinds=("ray-job",)), None)


def test_the_offers_of_a_kind_and_variant_stand_for_its_values() -> None:  # Z1
    small, large = offer("pool", size=("2b", "9b"), fast=(True,)), offer("flex-start", size=("27b",))
    offers = template(small, large, offer("spot"), offer("on-demand", "training-pipeline"))

    def stand(**values: Scalar) -> list[str]:
        return [offer.capacity_type for offer in standing(offers, CUSTOM_JOB, values)]

    assert stand(size="9b", fast=True) == ["pool", "spot"]
    assert stand(size="9b", fast=False) == ["spot"], "every condition holds"
    assert stand(size="27b", fast=False) == ["flex-start", "spot"]
    assert [entry.capacity_type for entry in standing(offers, PIPELINE, {})] == ["on-demand"]


def test_values_that_leave_no_offer_are_named() -> None:
    with pytest.raises(ConfigError, match=r"digits can't run as a custom job with size=27b"):
        standing(template(offer("pool", size=("2b",))), CUSTOM_JOB, {"size": "27b", "trees": 3})


def test_offers_of_a_kind_that_only_a_newer_version_knows_are_the_reason_for_none() -> None:
    with pytest.raises(ConfigError, match="digits can't run as a custom job") as error:
        standing(template(offer("pool", "ray-job")), CUSTOM_JOB, {})
    assert error.value.why.endswith("what a ray-job is")
    assert error.value.fix.startswith("update slipway")


def test_what_only_a_newer_version_knows_is_no_fix() -> None:
    with pytest.raises(ConfigError, match="has no capacity type 'calender'\n") as error:
        named(template(), (offer("calendar"), offer("spot")), "calender")
    assert error.value.why.endswith("are calendar, spot") and error.value.fix == "capacity='spot'"
    with pytest.raises(ConfigError) as error:
        named(template(), (offer("calendar"),), "pool")
    assert error.value.fix.startswith("update slipway")
    with pytest.raises(ConfigError, match="can't be submitted as a 'ray job'\n") as error:
        find_kind(template(kinds=("ray-job", "training-pipeline")), "ray job")
    assert error.value.fix == "kind='training-pipeline'"
    with pytest.raises(ConfigError, match="can't be submitted as a ''"):
        find_kind(template(), "")


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        (
            {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1},
            "flex-start has L4, A100, H100, H200 and B200 only, not n1-standard-4; its capacity types are spot",
        ),
        ({"machineType": "g2-standard-4", "acceleratorType": "NVIDIA_L4"}, "its capacity types are spot"),
    ],
)
def test_flex_start_names_its_machines_where_it_has_none_of_a_templates(machine: dict[str, object], why: str) -> None:
    spec = {"jobSpec": {"workerPoolSpecs": [{"machineSpec": machine}, {}]}}
    with pytest.raises(ConfigError, match="digits has no capacity type 'flex-start'") as error:
        named(template(), (replace(offer("spot"), request=spec),), "flex-start")
    assert error.value.why == why


def test_parameters_that_choose_another_capacity_type_are_named() -> None:
    spot = offer("spot", size=("2b",))
    with pytest.raises(ConfigError) as error:
        named(template(spot, offer("flex-start", size=("9b", "27b"))), (spot,), "flex-start")
    assert error.value.fix == "capacity='spot', or for flex-start: size='9b'"


def test_the_offer_that_was_asked_for_is_taken_on_every_cluster() -> None:
    found = (offer("pool"), offer("spot"), offer("pool"))
    assert [entry.capacity_type for entry in named(template(), found, "pool")] == ["pool", "pool"]
    with pytest.raises(ConfigError) as error:
        named(template(), found, "sport")
    assert error.value.why.endswith("are pool, spot") and error.value.fix == "capacity='spot'"


@pytest.mark.parametrize("wanted", ["pools", "POOL"])
def test_an_offer_that_is_nearly_named_is_suggested_by_the_argument_that_named_it(wanted: str) -> None:
    offers = (offer("spot"), offer("pool"))
    with pytest.raises(ConfigError, match=r"did you mean pool\?") as error:
        named(template(), offers, wanted)
    assert error.value.fix == "capacity='pool'"
    with pytest.raises(ConfigError) as error:
        named(template(), offers, wanted, "wait_for")
    assert error.value.fix == "wait_for={'pool': '30m'}"


def test_an_unknown_template_gets_a_suggestion() -> None:
    catalog = Catalog(
        "prod", "p", "r", "3f9c2e1", False, "w", "t", {}, (), {"dask-digits": template(), "tune-digits": template()}
    )
    with pytest.raises(ConfigError) as error:
        find_template(catalog, "dask-digit")
    assert "'dask-digit' not found" in error.value.what and "prod @ 3f9c2e1" in error.value.what
    assert error.value.why == "the catalog has dask-digits, tune-digits"
    assert error.value.fix == "slipway.submit('dask-digits')"
    assert error.value.exit_code == 2


def test_a_cluster_that_is_adopted_is_its_owners_to_mend() -> None:  # N13
    theirs = Cluster("theirs", (), id="team-a", adopted=Adoption("team-a"))
    clusters = {"cpu": Cluster("cpu", (), id="cpu-1a2b3c4"), "theirs": theirs}
    catalog = Catalog("prod", "acme", "us-central1", "", False, "w", "t", clusters, (), {})
    assert remedy(catalog, "cpu-1a2b3c4", ", which makes it again").startswith("make up STACK=prod, ")
    assert remedy(catalog, "team-a", ", which makes it again").startswith("ask whoever made team-a,")
    of_program = replace(catalog, program=Program("dev", "ml"))
    assert remedy(of_program, "cpu-1a2b3c4", ", which makes it again").startswith("pulumi up --stack dev, ")


def test_the_defaults_choose_what_is_usual() -> None:  # W6
    """A case that stands first in a template's file is not what its name alone asks for."""
    others = offer("flex-start", model=("27b",)), offer("spot", model=("27b",)), offer("pool", "training-pipeline")
    usual = offer("spot", model=("2b",)), offer("on-demand", model=("2b", "9b"))
    of = replace(template(*others, *usual), parameters=(Parameter("model", "str", "2b"),))
    assert usual_offers(of) == usual
    assert capacity_types(of) == {"spot": (usual[0],), "on-demand": (usual[1],), "flex-start": (others[0],)}
    assert list(capacity_types(of, "training-pipeline")) == ["pool"]
    must_be_given = replace(of, parameters=(Parameter("model", "str"),))
    assert list(capacity_types(must_be_given)) == ["flex-start", "spot", "on-demand"]


def test_an_account_that_a_template_names_is_not_the_stack_s_to_make_again() -> None:
    catalog = Catalog("prod", "acme", "us-central1", "", False, "w", "t@acme", {}, (), {}, trainers={"eval": "e@acme"})
    for made in ("t@acme", "e@acme"):
        assert account_remedy(catalog, made, "mlp") == "if it was deleted: make up STACK=prod, which makes it again"
    way = account_remedy(catalog, "x@acme-ml.iam.gserviceaccount.com", "mlp")
    assert "makes it again" not in way and "`service_account` of template mlp" in way
    assert "gcloud iam service-accounts create x --project=acme-ml" in way
    other = account_remedy(catalog, "12-compute@developer.gserviceaccount.com", "mlp")
    assert "gcloud" not in other and "`service_account` of template mlp" in other
