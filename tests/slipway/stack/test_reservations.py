"""Reservations by name, for the capacity type of that name; and who may run code of their own. # Z6 N11"""

import pytest

from slipway.cluster import Reservation

from .files import only, read, with_config, with_pool

PATH = "projects/acme-ml-prod/zones/us-central1-a/reservations/h100"


def reservation(text: str) -> str:
    return with_config(f"slipway:reservations:\n  h100: {{{text}}}")


def test_a_reservation_is_declared_by_name() -> None:
    stack = read(reservation(f"path: {PATH}, machine: a3-highgpu-8g, machines: 2"))
    assert stack.reservations == {"h100": Reservation(PATH, "a3-highgpu-8g", machines=2)}
    attached = read(
        reservation(f"path: {PATH}, machine: n1-standard-8, accelerator: {{type: NVIDIA_TESLA_T4, count: 2}}")
    )
    assert attached.reservations["h100"] == Reservation(PATH, "n1-standard-8", "NVIDIA_TESLA_T4", 2)
    assert read(reservation(f"path: {PATH}")).reservations["h100"] == Reservation(PATH)
    assert read(with_config("slipway:templates: []")).reservations == {}


@pytest.mark.parametrize(
    ("text", "key", "what", "fix"),
    [
        ("path: h100", "h100.path", "is not a reservation's full path: the text 'h100'", "ALLOW_ALL"),
        (
            f"path: {PATH.replace('central1', 'east4')}",
            "h100.path",
            "us-east4-a is not in the stack's region",
            "us-central1",
        ),
        (f"path: {PATH}, machine: a3-highgpu-9g", "h100.machine", "unknown machine type", "a3-highgpu"),
        (f"path: {PATH}, machines: 0", "h100.machines", "can't hold 0 machines", "1 or more"),
        (
            f"path: {PATH}, machine: n1-standard-8, accelerator: {{type: NVIDIA_L4, count: 1}}",
            "type",
            "can't have",
            "g2-",
        ),
        ("machine: a3-highgpu-8g", "h100.path", "is missing", "add `path: projects/"),
        (f"path: {PATH}, zone: a", "h100.zone", "unknown key", "one of path"),
    ],
)
def test_a_wrong_one_is_told_with_its_line(text: str, key: str, what: str, fix: str) -> None:
    finding = only(reservation(text))
    assert finding.line == 6
    assert finding.key.endswith(key)
    assert what in finding.what
    assert fix in finding.fix


def test_gb200_machines_can_be_reserved_and_not_be_held_by_a_pool() -> None:
    assert read(reservation(f"path: {PATH}, machine: a4x-highgpu-4g")).reservations["h100"].machine == "a4x-highgpu-4g"
    finding = only(with_pool("machine: a4x-highgpu-4g\nreplicas: 1"))
    assert "given to reservations only" in finding.what


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_stack_says_whether_code_may_be_replaced(word: str) -> None:  # N11
    assert read(with_config(f"slipway:workspace: {{code: {word}}}")).workspace.code is (word == "true")
    assert read(with_config("slipway:templates: []")).workspace.code is False


def test_a_stack_says_what_a_submission_may_cost_unasked() -> None:  # W2
    assert read(with_config("slipway:workspace: {confirmAbove: 4}")).workspace.confirm_above == 4
    assert read(with_config("slipway:workspace: {confirmAbove: 0.5}")).workspace.confirm_above == 0.5
    assert read(with_config("slipway:templates: []")).workspace.confirm_above is None
    assert "0 or more" in only(with_config("slipway:workspace: {confirmAbove: -1}")).fix


@pytest.mark.parametrize("key", ["spot", "flexStart", "reservation"])
def test_a_pool_has_no_capacity_type_of_its_own(key: str) -> None:
    finding = only(with_pool(f"machine: n1-standard-8\nreplicas: 1\n{key}: true"))
    assert "capacity type of job templates" in finding.fix
