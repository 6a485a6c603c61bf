"""What a deployment publishes has been read before, as everybody who submits reads it."""

from dataclasses import replace
from typing import Any

import pytest

from slipway.catalog.document import read
from slipway.catalog.model import Catalog, Parameter
from slipway.deployment.publication import readable
from slipway.errors import ConfigError
from tests.slipway.catalog.test_document import published


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
