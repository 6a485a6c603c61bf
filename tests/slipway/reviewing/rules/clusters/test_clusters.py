"""The fate of clusters and of the jobs on them, their seasons, and what they may become elsewhere, where the corpus has
no such world. # N1 # N2 # N5 # B3 # B6"""

from dataclasses import replace

import pytest

from slipway.deploying.engine.preview import UNKNOWN, Preview
from slipway.model.catalog.clusters import PricedAlternative
from slipway.model.prices import hourly
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.reading import _elsewhere
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.engine import deletions
from slipway.reviewing.rules.clusters.fates import clusters, retiring
from tests.slipway.reviewing.builders import H100, catalog, change, cluster, facts, pool, step

VERTEX = "gcp:vertex/aiPersistentResource:AiPersistentResource"


def fates(change: Change) -> dict[str, Consequence]:
    """Return by kind what becomes of clusters, without their machines and money."""
    every = [*clusters(change), *retiring(change), *deletions(change)]
    listed = [consequence for consequence in every if consequence.kind.startswith(("cluster-", "jobs-"))]
    assert len({consequence.key for consequence in listed}) == len(listed), "the same is said twice"
    return {consequence.kind: consequence for consequence in listed}


AWAY = "us-east4"
FIRST = cluster("gpu", pool("workers", H100, 1, 4), id="gpu-0000001")
FAR_POOL = pool("workers", H100, 1, 4, price=hourly(H100, AWAY))
LISTED = replace(FIRST, alternatives=(PricedAlternative((FAR_POOL,), AWAY),))
FAR = replace(cluster("gpu", FAR_POOL, id="gpu-0000002"), region=AWAY, alternative=1)


def alternatives(change: Change) -> list[Consequence]:
    return [cluster for cluster in clusters(change) if cluster.kind.startswith("cluster-may-")]


def test_it_is_looked_for_where_it_was_or_may_come_to_be() -> None:
    engine = {
        "urn": step("same", VERTEX, "old", old={"location": "us-west1"}),
        "odd": step("same", VERTEX, "x", old={}),
    }
    before, after = facts(FAR, other_regions=(AWAY,)), facts(LISTED, other_regions=("us-east5", AWAY))
    assert _elsewhere(Preview(standing=engine), before, after) == (AWAY, "us-east5", "us-west1")
    told = {"u": step("same", VERTEX, "y", old={"location": "evil.example/"})}
    assert _elsewhere(Preview(standing=told), facts(FIRST), None) == ()
    assert catalog(FAR).region_of("gpu") == AWAY


AGENT = "serviceAccount:service-1@gcp-sa-aiplatform.iam.gserviceaccount.com"
USER = "roles/cloudkms.cryptoKeyEncrypterDecrypter"


@pytest.mark.parametrize(
    ("grant", "warned"),
    [
        ({"cryptoKeyId": "p/k", "role": USER, "member": AGENT}, False),
        ({"cryptoKeyId": UNKNOWN, "role": USER, "members": [AGENT]}, False),
        ({"cryptoKeyId": "p/other", "role": USER, "member": AGENT}, True),
        ({"cryptoKeyId": "p/k", "role": "roles/viewer", "member": AGENT}, True),
        ({"cryptoKeyId": "p/k", "role": USER, "member": "user:ada@acme.example"}, True),
    ],
)
def test_a_key_that_the_program_lends_to_the_agent_is_not_unchecked(grant: dict[str, object], warned: bool) -> None:
    kind = "Binding" if "members" in grant else "Member"
    granted = step("create", f"gcp:kms/cryptoKeyIAM{kind}:CryptoKeyIAM{kind}", "agent", new=grant)
    keyed = replace(FIRST, kms_key="p/k")
    told = {each.kind for each in clusters(change(facts(), facts(keyed), steps=[granted]))}
    assert ("key-unchecked" in told) == warned
