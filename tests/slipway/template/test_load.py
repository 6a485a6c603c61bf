"""A stack names templates; each is a file."""

from pathlib import Path

import pytest

from slipway.errors import ConfigError
from slipway.template.load import available, load

SHIPPED = Path(__file__).resolve().parents[3] / "templates"
FILE = """
from slipway.template import JobTemplate, Package, WorkerPool
TEMPLATE = JobTemplate(
    name="{name}", summary="", code=Package("jobs/a", "a.task", "image"),
    worker_pools=(WorkerPool("chief", "n1-standard-4"),),
)
"""


def test_the_shipped_templates_load() -> None:
    names = available(SHIPPED)
    assert "dask-digits" in names
    assert [template.name for template in load(names, SHIPPED)] == list(names)


def test_they_come_in_the_order_asked_for(tmp_path: Path) -> None:
    for name in ("one", "two-b"):
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(FILE.format(name=name))
    assert [template.name for template in load(("two-b", "one"), tmp_path)] == ["two-b", "one"]


def test_a_missing_one_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ConfigError) as error:
        load(("dask-digit",), SHIPPED)
    assert "no file templates/dask_digit.py" in error.value.what
    assert error.value.fix == "slipway:templates: [dask-digits]"


@pytest.mark.parametrize("content", ["", "TEMPLATE = 3", FILE.format(name="other")])
def test_a_file_must_define_the_template_of_its_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "one.py").write_text(content)
    with pytest.raises(ConfigError, match="does not define template 'one'"):
        load(("one",), tmp_path)
