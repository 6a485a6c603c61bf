"""Which template, as which kind, and the ways that stand for its parameters."""

import pytest

from slipway.catalog.model import Catalog, Scalar, Template, Way
from slipway.cloud.kinds import CUSTOM_JOB, KINDS, PIPELINE, TUNING_JOB
from slipway.errors import ConfigError
from slipway.money import UNKNOWN
from slipway.rules import WAYS as TABLE
from slipway.submit.ways import WAYS, find_kind, find_template, named, standing


def way(name: str, kind: str = "custom-job", **when: tuple[Scalar, ...]) -> Way:
    return Way(name, True, "", "cpu" if name == "pool" else "", (), UNKNOWN, {}, kind, when)


def template(*ways: Way, kinds: tuple[str, ...] = ("custom-job",)) -> Template:
    return Template("digits", "", kinds[0], (), (), ways, kinds)


def test_a_kind_is_the_templates_first_unless_another_is_asked_for() -> None:  # W5
    both = template(kinds=("custom-job", "hyperparameter-tuning-job"))
    assert find_kind(both, None) is CUSTOM_JOB
    assert find_kind(both, "hyperparameter-tuning-job") is TUNING_JOB
    assert find_kind(template(kinds=("training-pipeline",)), None) is PIPELINE


def test_a_kind_that_a_template_is_not_names_its_own() -> None:
    with pytest.raises(ConfigError) as error:
        find_kind(template(), "training-pipeline")
    assert error.value.why == "its kinds are custom-job" and "--as custom-job" in error.value.fix


def test_a_kind_of_a_newer_version_says_to_update() -> None:
    with pytest.raises(ConfigError, match="which this version does not know"):
        find_kind(template(kinds=("ray-job",)), None)


def test_the_ways_of_a_variant_stand_for_its_values() -> None:  # Z1
    small, large = way("pool", size=("2b", "9b")), way("flex-start", size=("27b",))
    found = template(small, large, way("spot"))
    assert [one.way for one in standing(found, CUSTOM_JOB, {"size": "9b"})] == ["pool", "spot"]
    assert [one.way for one in standing(found, CUSTOM_JOB, {"size": "27b"})] == ["flex-start", "spot"]


def test_every_condition_of_a_variant_holds() -> None:  # Z1
    found = template(way("pool", size=("2b",), fast=(True,)), way("spot"))
    assert [one.way for one in standing(found, CUSTOM_JOB, {"size": "2b", "fast": True})] == ["pool", "spot"]
    assert [one.way for one in standing(found, CUSTOM_JOB, {"size": "2b", "fast": False})] == ["spot"]


def test_ways_are_those_of_the_kind() -> None:
    found = template(way("pool"), way("spot", "training-pipeline"))
    assert [one.way for one in standing(found, PIPELINE, {})] == ["spot"]


def test_values_that_leave_no_way_are_named() -> None:
    with pytest.raises(ConfigError, match=r"digits has no way to run as a custom job with size=27b"):
        standing(template(way("pool", size=("2b",))), CUSTOM_JOB, {"size": "27b", "trees": 3})


def test_the_way_that_was_asked_for_is_taken_on_every_cluster() -> None:
    found = (way("pool"), way("spot"), way("pool"))
    assert [one.way for one in named(template(), found, "pool")] == ["pool", "pool"]


def test_an_unknown_way_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as error:
        named(template(), (way("pool"), way("spot"), way("pool")), "sport")
    assert error.value.why == "it runs by pool or spot" and "--way pool" in error.value.fix


def test_an_unknown_template_gets_a_suggestion() -> None:
    catalog = Catalog(
        "prod", "p", "r", "3f9c2e1", False, "w", "t", {}, (), {"dask-digits": template(), "ddp-digits": template()}
    )
    with pytest.raises(ConfigError) as error:
        find_template(catalog, "dask-digit")
    assert error.value.what == "template 'dask-digit' not found in catalog prod @ 3f9c2e1"
    assert error.value.why == "the catalog has dask-digits, ddp-digits"
    assert error.value.fix == "slipway submit dask-digits …"
    assert error.value.exit_code == 2


def test_names_are_those_of_the_table_of_rules() -> None:
    assert set(WAYS) == set(TABLE) and set(KINDS) == {"custom-job", "hyperparameter-tuning-job", "training-pipeline"}
