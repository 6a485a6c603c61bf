"""Mistakes of a template, each with its place and what would be right: mistakes.txt has all of them.

`python -m tests.slipway.authoring.template.test_mistakes` writes it.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from slipway import template as declarations
from slipway.base.errors import ConfigError
from slipway.template import Metric, Parameter, Search, Study, WorkerPool
from tests.builders.templates import job_template
from tests.slipway.authoring.mistakes import written

TABLE = Path(__file__).with_name("mistakes.txt")
NAMES = {
    **vars(declarations),
    "template": job_template,
    "replace": replace,
    "STUDY": Study((Metric("accuracy"),), (Search("rate", "double", 0.1, 1.0),), max_trials=4, parallel_trials=2),
    "CHIEF": WorkerPool("scheduler", "n1-standard-4", args=("${trees}",)),
    "TREES": Parameter("trees", int, default=1),
    "LAYERS": Parameter("layers", list[int], choices=(64, 32)),
    "SIZE": Parameter("size", str, default="2b", choices=("2b", "9b", "27b")),
}


def said(text: str) -> str:
    with pytest.raises(ConfigError) as error:
        eval(text, NAMES)
    assert "templates/" in error.value.fix
    return error.value.why


def test_each_is_told_with_its_place() -> None:
    assert written(TABLE, said) == TABLE.read_text("utf-8")


if __name__ == "__main__":
    TABLE.write_text(written(TABLE, said), "utf-8")
