"""An edit of pools' bounds leaves the rest of a stack file to the letter. # N16"""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.replicas_edit import with_bounds
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.base.errors import ConfigError

TEXT = """\
# what is above stays
config:
  gcp:project: acme-ml-prod
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:persistentResources:
    cpu:
      pools:
        head: { machine: n1-standard-4, replicas: 2 } # one for each
        workers:
          machine: n1-standard-8
          replicas:
            min: 2 # nights
            max: 16
            initial: 4
          # and a word below
    "h100":
      pools:
        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 1, max: 4 } }
"""
POOLS = (("cpu", "head"), ("cpu", "workers"), ("h100", "workers"))
BOUNDS = st.tuples(st.integers(1, 40), st.integers(0, 40)).map(lambda pair: (pair[0], sum(pair)))


def bounds_in(text: str) -> dict[tuple[str, str], tuple[int, int]]:
    stack = parse(from_text(text, "Pulumi.prod.yaml"))
    return {(cluster.name, pool.name): (pool.min, pool.max) for cluster in stack.clusters for pool in cluster.pools}


@given(st.dictionaries(st.sampled_from(POOLS), BOUNDS))
def test_the_file_has_the_bounds_that_were_asked_for_and_no_others(
    bounds: dict[tuple[str, str], tuple[int, int]],
) -> None:
    changed = with_bounds(TEXT, bounds)
    assert bounds_in(changed) == {**bounds_in(TEXT), **bounds}
    gone = [line for line in difflib.ndiff(TEXT.splitlines(), changed.splitlines()) if line.startswith("- ")]
    assert not any(word in line for line in gone for word in ("config", "region", "h100:", "above", "below"))


def test_what_is_written_keeps_its_form(snapshot: SnapshotAssertion) -> None:
    changed = with_bounds(TEXT, {("cpu", "workers"): (1, 3), ("h100", "workers"): (2, 2), ("cpu", "head"): (1, 3)})
    assert changed == snapshot
    assert with_bounds(TEXT, {}) == TEXT


def test_bounds_that_several_pools_share_are_refused() -> None:
    shared = TEXT.replace("replicas: 2 }", "replicas: &same { min: 1, max: 4 } }").replace(
        "replicas: { min: 1, max: 4 } }\n", "replicas: *same }\n"
    )
    for name in (("cpu", "head"), ("h100", "workers")):
        with pytest.raises(ConfigError):
            with_bounds(shared, {name: (1, 2)})
    assert with_bounds(shared, {("cpu", "workers"): (1, 3)}) != shared
    with pytest.raises(ConfigError):
        with_bounds(TEXT, {("cpu", "nobody"): (1, 2)})


@pytest.mark.parametrize(
    "replicas", ["{ min: *two, max: 4 }", "{ min: 1, max: 4, initial: *two }", "{ min: 1, <<: *r }"]
)
def test_a_bound_that_is_written_elsewhere_is_refused(replicas: str) -> None:
    """What stands there is somebody else's number."""
    text = TEXT.replace("replicas: 2 }", "replicas: &two 2 }").replace("replicas:\n", "replicas: &r\n")
    text = text.replace("replicas: { min: 1, max: 4 }", f"replicas: {replicas}")
    with pytest.raises(ConfigError):
        with_bounds(text, {("h100", "workers"): (2, 3)})


@pytest.mark.parametrize(("initial", "then"), [("0x4", 3), ("010", 3), ("1_0", 3), ("0b1", 2)])
def test_a_number_is_read_as_the_engine_reads_it(initial: str, then: int) -> None:
    changed = with_bounds(TEXT.replace("initial: 4", f"initial: {initial}"), {("cpu", "workers"): (2, 3)})
    assert f"initial: {then}\n" in changed


def test_lines_end_as_they_did() -> None:
    text = TEXT.replace("\n", "\r\n")
    changed = with_bounds(text, {("cpu", "workers"): (1, 3)})
    assert changed == with_bounds(TEXT, {("cpu", "workers"): (1, 3)}).replace("\n", "\r\n") != text
