"""What people look at of several regions, where one of them does not answer."""

from dataclasses import replace

import pytest

from slipway.catalog.model import Catalog
from slipway.cloud.failures import Call, CloudError, Denied
from slipway.cloud.vertex import Vertex
from slipway.context import Context

CATALOG = Catalog("dev", "acme-dev", "us-central1", "", False, "w", "t", {}, (), {}, other_regions=("us-east4",))
LEFT = replace(CATALOG, former_regions=("europe-west4",))


@pytest.mark.parametrize(
    ("catalog", "down", "seen"),
    [
        (LEFT, "", ("us-central1", "us-east4", "europe-west4")),
        (LEFT, "europe-west4", ("us-central1", "us-east4")),
        (LEFT, "us-east4", ()),
        (CATALOG, "us-east4", ()),
    ],
)
def test_a_region_that_the_stack_has_left_is_done_without_and_named(
    catalog: Catalog, down: str, seen: tuple[str, ...]
) -> None:  # N2 # N4
    """Its trouble may be why the stack has left it. Of any other nothing that is not read counts as empty."""
    context = Context(environ={"GOOGLE_OAUTH_ACCESS_TOKEN": "token"})
    context.__dict__["catalog"] = catalog
    said: list[str] = []

    def read(vertex: Vertex) -> tuple[str, ...]:
        if down in vertex.regions:
            call = Call("list jobs", "aiplatform.customJobs.list", "project acme-dev")
            raise Denied("could not list jobs", "denied", call=call)
        return vertex.regions

    if not seen:
        with pytest.raises(CloudError):
            context.looked_up(read, said.append)
        return
    assert context.looked_up(read, said.append) == seen
    assert said == (["! not looked at europe-west4, which stack dev has left: denied"] if down else [])
