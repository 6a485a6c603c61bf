"""Places of findings: the file, and a stack's line, in front of the key. # N8"""

from pathlib import Path

import pytest

from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.render.places import located
from slipway.reviewing.review import Review

STACK = """config:
  gcp:project: acme
  slipway:persistentResources:
    h100:
      pools:
        workers: { machine: a3-highgpu-8g, replicas: { min: 1, max: 6 } }
  slipway:templates: [lora]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text(STACK)
    return tmp_path


def field(checkout: Path, subject: str, key: str, stack: str = "prod", touched: tuple[str, ...] = ()) -> str:
    finding = KINDS["submission-changed"].of(Subject.read(subject), "changes", field=key)
    return located(Review(stack, (finding,)), checkout, touched).findings[0].field


@pytest.mark.parametrize(
    ("subject", "key", "place"),
    [
        ("cluster h100", "slipway:persistentResources.h100.pools.workers.replicas.max", "stacks/Pulumi.prod.yaml:6"),
        ("cluster cpu", "slipway:persistentResources.cpu", "stacks/Pulumi.prod.yaml:3"),
        ("stack", "gcp:project", "stacks/Pulumi.prod.yaml:2"),
        ("template my-lora parameter rank", "parameters.rank", "templates/my_lora.py"),
        ("template my-lora", "slipway:templates", "stacks/Pulumi.prod.yaml:7"),
    ],
)
def test_in_front_of_the_key(checkout: Path, subject: str, key: str, place: str) -> None:
    assert field(checkout, subject, key, touched=("templates/my_lora.py",)) == f"{place} {key}"


def test_what_can_t_be_found_keeps_its_key(checkout: Path) -> None:
    assert (
        field(checkout, "cluster h100", "slipway:persistentResources.h100", "dev") == "slipway:persistentResources.h100"
    )
    assert field(checkout, "bucket work", "") == ""
    (checkout / "stacks" / "Pulumi.prod.yaml").write_bytes(b"\xff: [")
    assert field(checkout, "cluster h100", "slipway:templates") == "slipway:templates"


def test_what_is_no_file_of_the_checkout_is_not_read(checkout: Path) -> None:
    file = checkout / "stacks" / "Pulumi.prod.yaml"
    file.rename(checkout.with_name("elsewhere.yaml"))
    for target in (checkout.with_name("elsewhere.yaml"), "/dev/zero"):
        file.symlink_to(target)
        assert field(checkout, "stack", "gcp:project") == "gcp:project"
        file.unlink()
    assert field(checkout, "stack", "gcp:project", "a\0b") == "gcp:project"


def test_a_template_s_file_that_nobody_edited_is_no_place(checkout: Path) -> None:
    for file, place in (
        ("pipelines/lora.yaml", "parameters.rank"),
        ("templates/lora.py", "templates/lora.py parameters.rank"),
    ):
        assert field(checkout, "template lora parameter rank", "parameters.rank", touched=(file,)) == place
        requirements = "jobs/lora/requirements.txt"
        assert field(checkout, "template lora requirements", requirements, touched=(file,)) == requirements
