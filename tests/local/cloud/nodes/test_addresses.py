"""Replicas on one machine have addresses of their own, and so have clouds."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from local.cloud.nodes import addresses


@given(st.sets(st.integers(1, 10**6), min_size=2, max_size=50))
def test_replicas_have_addresses_of_their_own(numbers: set[int]) -> None:
    found = [addresses.address(number, min(numbers), "linux") for number in sorted(numbers)]
    assert len({host for host, _, _ in found}) == len(numbers)
    assert found == sorted(found), "as the service's names, the chief's before those of the workers"
    assert all(host.startswith("127.") and not host.startswith("127.0.") for host, _, _ in found)
    elsewhere = addresses.address(min(numbers), min(numbers), "darwin")
    assert elsewhere[0] == "127.0.0.1"
    assert elsewhere[1] != elsewhere[2]


def test_jobs_that_listen_on_every_address_do_not_meet() -> None:
    """PyTorch's store does, wherever it is told to be."""
    ports = [addresses.address(number, first, "linux")[1:] for number, first in ((1, 1), (2, 1), (3, 3))]
    assert ports[0] == ports[1], "in a job the same, as in the service"
    assert not set(ports[0]) & set(ports[2])


def test_two_clouds_do_not_count_from_the_same_number() -> None:
    assert addresses.beginning(Path("/a/state")) != addresses.beginning(Path("/b/state"))
