"""The stand-in's types against those of the installed pulumi-gcp, whichever that is (`make newest-gcp`). # N4"""

import pytest

from local.plugin import VERSION
from local.plugin.provider import kinds
from tests.local.plugin.provider_sdk import installed, of_sdk, of_stand_in


@pytest.mark.parametrize("token", kinds())
def test_what_the_stand_in_takes_and_tells_of_is_there_and_the_same(token: str) -> None:
    ours, theirs = of_stand_in(kinds()[token].schema), of_sdk(token)
    assert {path: theirs.takes.get(path) for path in ours.takes} == ours.takes
    assert {path: theirs.has.get(path) for path in ours.has} == ours.has
    assert theirs.required == ours.required
    assert theirs.secret == ours.secret


@pytest.mark.parametrize("token", kinds())
@pytest.mark.skipif(installed() != VERSION, reason="what a newer one has besides, no program of ours declares")
def test_the_stand_in_has_all_of_the_version_that_it_shows(token: str) -> None:
    assert of_stand_in(kinds()[token].schema) == of_sdk(token)
