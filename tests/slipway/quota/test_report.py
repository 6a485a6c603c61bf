"""The quota table as preview and `slipway quota` print it."""

from dataclasses import replace
from textwrap import dedent

import pytest

from slipway.errors import PolicyError
from slipway.findings.finding import Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.live import Increase
from slipway.quota.assessment import assess
from slipway.quota.report import OfferDraw, QuotaReport, refuse_shortage, table

from .region import REGION, cluster, cpu, h100, machines, region, wanted

# fmt: off
EXPECTED = """
    us-central1                                                NOW  CEILING   LIMIT  USED BY OTHERS  VERDICT
    on-demand    H100 GPUs  pool h100/workers, 1–4 machines     24       32      32               0  ok
                 A3 vCPUs   pool h100/workers, 1–4 machines    624      832       ∞               –  ok
                 PD SSD GB  pool h100/workers, 1–4 machines  1,500    2,000  75,000             500  ok
                 PD SSD GB  lora spot                            –      500  75,000             500  ok
    preemptible  H100 GPUs  lora spot                            –        8       8               0  ok
                 vCPUs      lora spot                            –      208       1               0  spot unavailable: short by 207 · increase can be requested
"""  # noqa: E501 - the screen is as wide as it is
# fmt: on


def test_the_table() -> None:  # N6
    live = region(
        cluster("h100-1a2b3c4", h100(), replicas=3),
        cluster("lab", replace(cpu(), autoscaled=False), replicas=5),
        increase=Increase.POSSIBLE,
    )
    offers = (
        OfferDraw("lora", "pool", "pool"),
        OfferDraw("lora", "spot", "spot", (machines(h100(), 1),), preemptible=True),
    )
    report = assess((wanted("h100", h100(), lives=True),), live, region=REGION, offers=offers, preview=True)
    assert table(report) == dedent(EXPECTED).strip("\n")


RETIRING = """
    us-central1                                               NOW  RETIRING  CEILING   LIMIT  USED BY OTHERS  VERDICT
    on-demand  H100 GPUs  pool h100/workers, 1–4 machines       8         8       32      32               0  ok now; at most 3 of 4 machines until what retires is gone
               A3 vCPUs   pool h100/workers, 1–4 machines     208         –      832       ∞               –  ok
               PD SSD GB  pool h100/workers, 1–4 machines     500       500    2,000  75,000               0  ok
"""  # noqa: E501 - the screen is as wide as it is


def test_what_retires_has_a_column_of_its_own_while_there_is_any() -> None:  # N1, N6
    live = region(cluster("h100-1a2b3c4", h100()), cluster("h100-0000000", h100()))
    current = (wanted("h100", h100(), lives=True),)
    report = assess(current, live, region=REGION, preview=True, old=frozenset({"h100-0000000"}))
    assert [" ".join(line.split()) for line in table(report).splitlines()] == [
        " ".join(line.split()) for line in dedent(RETIRING).strip("\n").splitlines()
    ]


def test_cases_of_parameters_are_not_told_apart_in_a_line() -> None:
    offers = [
        f"{name} (model={model}, gpu=A100 or L4) as custom-job" for name in ("spot", "flex") for model in ("2b", "9b")
    ]
    draws = tuple(
        OfferDraw("lora", label.split()[0], label, (machines(h100(), 1),), preemptible=True) for label in offers
    )
    shown = table(assess((), region(), region=REGION, offers=draws, preview=True))
    assert "model" not in shown and "as custom-job" not in shown
    assert " lora spot and lora flex " in shown
    assert "flex and spot unavailable: " in shown


def test_what_is_not_known_is_a_question_mark() -> None:
    unknown = assess((wanted("h100", h100()),), replace(region(), skipped=True), region=REGION, preview=True)
    assert table(unknown).splitlines()[1].split()[-4:] == ["?", "?", "cannot", "tell"]


def test_nothing_drawn_is_an_empty_table() -> None:
    assert table(QuotaReport()) == ""


SHORT = KINDS["quota-short-now"].of(Subject("quota", "x"), "quota x is short by 5")


def test_errors_stop_the_deployment() -> None:  # D2
    refuse_shortage(QuotaReport(findings=(replace(SHORT, grade=Grade.WARNING),)), REGION)
    with pytest.raises(PolicyError) as error:
        refuse_shortage(QuotaReport(findings=(SHORT, replace(SHORT, sentence="quota y is short by 6"))), REGION)
    assert f"not suffice in {REGION}," in error.value.what
    assert [one.split()[1] for one in error.value.why.splitlines()] == ["x", "y"]
    assert error.value.exit_code == 5
