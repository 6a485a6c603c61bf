"""TPU machines (vertex-rules 7.2): by topology, and the first two generations by count."""

import pytest

from slipway.machines.spec import is_tpu, tpu
from slipway.machines.table import MachineError, machine_types


@pytest.mark.parametrize(
    ("type_", "topology", "chips", "vms"),
    [
        ("ct5lp-hightpu-1t", "1x1", 1, 1),
        ("ct5lp-hightpu-4t", "16x16", 4, 64),
        ("ct6e-standard-8t", "2x4", 8, 1),
        ("tpu7x-standard-4t", "8x8x16", 4, 256),
    ],
)
def test_a_topology_says_how_many_vms(type_: str, topology: str, chips: int, vms: int) -> None:
    found = tpu(type_, None, None, topology)
    assert (found.tpu_topology, found.accelerator, found.accelerator_count, found.vms) == (topology, None, chips, vms)


@pytest.mark.parametrize(("count", "vms"), [(8, 1), (32, 4), (64, 8)])
def test_a_count_says_it_for_the_first_generations(count: int, vms: int) -> None:
    found = tpu("cloud-tpu", "TPU_V3", count, None)
    assert (found.accelerator, found.accelerator_count, found.vms) == ("TPU_V3", count, vms)


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        (("ct5lp-hightpu-1t", None, None, None), "topology", "one of 1x1"),
        (("ct5lp-hightpu-8t", None, None, "4x4"), "topology", "one of 2x4"),
        (("ct6e-standard-4t", "TPU_V3", 8, "2x2"), "accelerator", "tpu_topology alone"),
        (("cloud-tpu", None, None, None), "type", "one of TPU_V2, TPU_V3"),
        (("cloud-tpu", "TPU_V2", 16, None), "count", "8, or a multiple of 32"),
        (("cloud-tpu", "TPU_V2", 8, "2x2"), "topology", "TPU_V2, TPU_V3 and a count"),
    ],
)
def test_what_does_not_exist_is_told(
    arguments: tuple[str, str | None, int | None, str | None], field: str, words: str
) -> None:
    with pytest.raises(MachineError) as error:
        tpu(*arguments)
    assert error.value.field == field
    assert words in error.value.fix


def test_a_persistent_resource_is_offered_none() -> None:
    assert not [type_ for type_ in machine_types() if is_tpu(type_)]
