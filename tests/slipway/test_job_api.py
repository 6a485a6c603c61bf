"""`slipway.job(...)`, `slipway.jobs(...)`, metrics and results from Python, and what notebooks show. # N12 # N19"""

from __future__ import annotations

import importlib
import json
import logging
import pydoc
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import slipway
from slipway.errors import ConfigError, ResourceError
from slipway.job_api import Jobs
from slipway.notebook import facts, table
from tests.slipway import test_api as _fixtures
from tests.slipway.cli.stack import Stack

_stack, stack = _fixtures._stack, _fixtures.stack
HOSTILE = "<script>alert(1)</script>\x1b[31m"


def measured(stack: Stack, name: str, metrics: Any) -> None:
    stack.write(f"jobs/{name}/metrics.json", json.dumps(metrics).encode())


def test_a_job_is_found_by_name_number_and_template_with_its_metrics(stack: Stack) -> None:
    sent = slipway.submit("hello", code_="print(1)").wait(timeout=120)
    assert slipway.job(sent.name) == slipway.job(sent.id) == slipway.job("hello") == sent
    assert dict(sent.metrics) == {} and sent.metrics.why == "no metrics.json in its output"
    measured(stack, sent.name, [{"step": 1, "loss": 2}, {"step": 2, "loss": 1}])
    assert sent.metrics["loss"] == 1 and [one.step for one in sent.metrics.steps] == [1, 2]
    with pytest.raises(ResourceError):
        slipway.job("nothing")
    with pytest.raises(ConfigError, match="name is given a int"):
        slipway.job(7)  # type: ignore[arg-type]


def test_jobs_are_listed_by_what_one_asks_for_and_told_beside_each_other(stack: Stack) -> None:
    first, second = (slipway.submit("hello", code_=f"print({number})").wait(timeout=120) for number in (1, 2))
    other = slipway.submit("crew", code_="print(3)").wait(timeout=120)
    assert slipway.jobs() == (other, second, first) and slipway.jobs(limit=1) == (other,)
    assert slipway.jobs(template="hello", state="succeeded") == (second, first) and slipway.jobs(user="bob") == ()
    measured(stack, first.name, {"accuracy": 0.9})
    found = slipway.jobs(template="hello").results("-accuracy")
    assert [row["job"] for row in found] == [first.name, second.name]
    assert [row["best"] for row in found] == [True, False] and found.best[0].name == first.name
    assert found[0].keys() == found[1].keys() and found[1]["metrics.accuracy"] is None
    assert (found[0]["params.code"], found[0]["metrics.accuracy"]) == ("print(1)", 0.9)
    assert len(Jobs().results("-accuracy")) == 0
    with pytest.raises(ConfigError, match="none of these jobs has a metric 'acc'"):
        slipway.jobs().results("acc")
    for wrong in ({"state": "asleep"}, {"limit": 0}, {"user": "?"}, {"template": 7}, {"sort": 1}):
        with pytest.raises((ConfigError, TypeError)):
            slipway.jobs(**wrong)


def test_the_results_of_a_sweep_are_rows_in_the_order_of_its_runs_or_the_best_first(stack: Stack) -> None:
    sweep = slipway.sweep("hello", {"code": ["print(1)", "print(2)", "raise SystemExit(3)"]})
    with pytest.raises(ResourceError):
        sweep.wait(timeout=120)
    names = [job.name for job in sweep.jobs()]
    for name, loss in zip(names, (2, 1, 0), strict=True):
        measured(stack, name, {"loss": loss, HOSTILE: 1})
    plain, found = sweep.results(), sweep.results("loss")
    assert [row["run"] for row in plain] == [0, 1, 2] and [row["best"] for row in plain] == [None] * 3
    assert [row["cause"] for row in plain][:2] == [None, None] and "a non-zero status of 3" in str(plain[2]["cause"])
    assert [row["job"] for row in found] == [names[2], names[1], names[0]]
    assert [row.name for row in found.best] == [names[1]], "what failed is not best"
    assert slipway.jobs(sweep=sweep.id) == sweep.jobs()
    html = found._repr_html_().lower()
    assert "<script>" not in html and "\x1b" not in html and "&lt;script&gt;" in html and "★" in html
    assert sweep.id in sweep._repr_html_() and sweep.jobs()[0].name in sweep.jobs()[0]._repr_html_()
    assert names[0] in slipway.jobs()._repr_html_()


def test_a_job_is_submitted_like_another_with_what_is_given_on_top(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    first = slipway.submit("crew", code_="print('like me')", workers=2)
    with caplog.at_level(logging.INFO, "slipway"):
        again = slipway.submit(like=first.name, workers=1)
    assert again.parameters == {"code": "print('like me')", "workers": 1}
    assert any(line.startswith(f"like {first.name} (ada)") and "workers=1 (2 then)" in line for line in caplog.messages)
    assert slipway.submit(like=first).parameters == first.parameters
    for wrong in ({"template": "crew", "like": first}, {}):
        with pytest.raises(ConfigError):
            slipway.submit(**wrong)  # type: ignore[arg-type]


def test_the_package_that_is_called_like_the_function_is_called_like_it(stack: Stack) -> None:
    assert slipway.jobs(limit=1) == ()
    package: Any = importlib.import_module("slipway.jobs")
    assert package.cost and package(limit=1) == ()
    code = "import slipway, slipway.jobs.results; assert slipway.jobs.results and slipway.jobs(limit=1) == ()"
    path = str(Path(slipway.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], env=stack.env(PYTHONPATH=path), capture_output=True, text=True, cwd=stack.folder
    )
    assert done.returncode == 0, done.stderr


def test_help_shows_how_it_is_called() -> None:
    assert {"job", "jobs"} <= set(dir(slipway))
    assert "resource name or request id" in pydoc.plain(pydoc.render_doc(slipway.job))
    assert "metrics" in pydoc.plain(pydoc.render_doc(slipway.Job))


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags, self.texts = set[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.lists(st.tuples(st.text(), st.text())))
def test_no_text_becomes_a_tag(pairs: list[tuple[str, str]]) -> None:
    for html in (facts(pairs), table(("A", "B"), pairs)):
        parser = _Texts()
        parser.feed(html)
        assert parser.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
        assert "\x1b" not in html and len(html) < 1000 + 2000 * len(pairs)


def test_a_long_table_says_how_much_is_left_out() -> None:
    assert "and 800 more" in table(("A",), [("x",)] * 1000)
