"""What the check of quota publishes. # D2"""

from components.quota_check import QuotaCheck

from .conftest import FACTS, declared, only


def test_it_publishes_its_facts() -> None:
    asked = only(declared(lambda: QuotaCheck("quota", facts=FACTS)), "slipway:components:QuotaCheck")
    assert asked.inputs == FACTS
