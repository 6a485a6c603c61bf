"""Other code of a job, and other packages. # N3"""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.findings.finding import Finding, Grade
from slipway.review.change import Files
from tests.slipway.review.templates.lora import LORA, asking, found

FILE = "jobs/lora/task.py"


def told(*, same: bool = False, torch: str = "2.4") -> list[Finding]:
    old = asking(args=("--module", "lora.task", "--"))
    new = replace(old, package="gs://acme-catalog/packages/lora-2.tar.gz", requirements=(f"torch=={torch}",))
    file = frozenset({FILE})
    return found(old, new, files=Files(file, same=file if same else frozenset()))


def test_other_code_is_told_with_its_files() -> None:
    (one,) = told()
    assert (one.kind, one.grade, one.details) == ("code-changed", Grade.WARNING, (f"`{FILE}`",))
    assert one.sentence == f"Jobs of `lora` run other code: `{FILE}`"
    assert told(same=True) == []


def test_other_code_and_what_it_installs_are_one() -> None:
    (one,) = told(torch="2.5")
    assert one.kind == "requirements-changed"
    assert "run other code" in one.sentence and one.details == (f"`{FILE}`",)
    (one,) = told(torch="2.5", same=True)
    assert "run other code" not in one.sentence


@pytest.mark.parametrize(
    ("requirements", "grade", "words"),
    [
        ((), Grade.BLOCKING, "don't install `torch==2.4` any more"),
        (("torch",), Grade.WARNING, "the newest `torch` instead of `torch==2.4`"),
        (("torch==2.4", "dask==1"), Grade.WARNING, "install `dask==1`: it runs with all that their account may do"),
    ],
)
def test_packages_that_come_and_go(requirements: tuple[str, ...], grade: Grade, words: str) -> None:
    (one,) = found(LORA, replace(LORA, requirements=requirements))
    assert (one.kind, one.grade) == ("requirements-changed", grade)
    assert words in one.sentence
