"""Fixes of a forge's refusals: a right where one lacks, and nothing but time elsewhere. # N14"""

import pytest

from slipway.base.errors import ResourceError
from slipway.google.failures import Answer, Call, failure
from slipway.reviewing.forges.rest import refused


@pytest.mark.parametrize(
    ("status", "message", "mends"),
    [
        (401, "Bad credentials", True),
        (403, "Resource not accessible by integration", True),
        (404, "Not Found", True),
        (403, "You have exceeded a secondary rate limit.", False),
        (429, "Retry later", False),
        (502, "Bad Gateway", False),
    ],
)
def test_a_right_is_named_where_it_mends(status: int, message: str, *, mends: bool) -> None:
    with pytest.raises(ResourceError, match=message) as told, refused("give a right"):
        raise failure(Call("ask"), Answer(status, "", message))
    assert (told.value.fix == "give a right") is mends
