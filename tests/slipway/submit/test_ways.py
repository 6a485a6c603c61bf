"""Which template, and by which way."""

import pytest

from slipway.catalog.model import Catalog, Template, Way
from slipway.errors import ConfigError, PolicyError
from slipway.submit.ways import choose, find_template


def way(name: str, available: bool = True, why: str = "") -> Way:
    return Way(name, available, why, "cpu" if name == "pool" else "", (), None, {})


def template(*ways: Way) -> Template:
    return Template("digits", "", "custom-job", (), (), ways)


def test_the_first_available_way_is_taken() -> None:  # N3
    assert choose(template(way("pool", False, "no pool"), way("spot")), None).way == "spot"
    assert choose(template(way("pool"), way("spot")), None).way == "pool"


def test_the_way_that_was_asked_for_is_taken() -> None:
    assert choose(template(way("pool"), way("spot")), "spot").way == "spot"


def test_no_way_left_says_why_of_each() -> None:
    with pytest.raises(PolicyError) as error:
        choose(template(way("pool", False, "no pool fits"), way("spot", False, "quota: short by 7")), None)
    assert "no pool fits" in error.value.why and "short by 7" in error.value.why
    assert error.value.exit_code == 5


def test_an_unavailable_way_says_why_and_names_another() -> None:
    with pytest.raises(PolicyError) as error:
        choose(template(way("pool"), way("spot", False, "quota: short by 7")), "spot")
    assert error.value.why == "quota: short by 7" and "--way pool" in error.value.fix


@pytest.mark.parametrize("name", ["flex-start", "on-demand", "reservation"])
def test_ways_to_come_are_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match=f"--way {name} is not supported by this version"):
        choose(template(way("pool"), way(name)), name)


def test_an_unknown_way_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as error:
        choose(template(way("pool"), way("spot")), "sport")
    assert "pool or spot" in error.value.why


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
