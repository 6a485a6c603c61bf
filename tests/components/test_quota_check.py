"""Quota is checked before anything is created. # D2"""

import pytest

from components.quota_check import QuotaCheck
from slipway.errors import PolicyError
from slipway.quota.report import Line, QuotaReport

from .conftest import FACTS, Asked, declared, only

LINE = Line(
    "custom_model_training_cpus", "us-central1", "on-demand", "N1/E2 vCPUs", "pool cpu/workers", 8, 32, 40, 0, "ok"
)


def check(report: QuotaReport) -> list[Asked]:
    return declared(lambda: QuotaCheck("quota", region="us-central1", report=report, facts=FACTS))


def test_it_publishes_its_facts() -> None:
    asked = only(check(QuotaReport(lines=(LINE,))), "slipway:components:QuotaCheck")
    assert asked.inputs == FACTS


def test_errors_stop_the_deployment_and_nothing_is_registered() -> None:
    with pytest.raises(PolicyError) as error:
        check(QuotaReport(errors=("quota x is short by 5", "quota y is short by 6")))
    assert error.value.what == "quota does not suffice in us-central1, so nothing was changed"
    assert error.value.why.splitlines() == ["quota x is short by 5", "quota y is short by 6"]
    assert error.value.exit_code == 5
