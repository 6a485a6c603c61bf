"""Every rule that can be checked before sending, with a request that obeys it and one that breaks it alone.

The examples are beside this file, by the rules' own modules. # W2 W3 W4 W5 W6 P2 P3 P4 Z6 X1 X6 N3
"""

import pytest

from slipway.model.rules.table import TABLE

from .bodies import H100, POOL, Example, broken, custom, worker
from .examples import code, job, pipeline, reservations, strategies, study, workers

EXAMPLES = tuple(
    example for module in (strategies, reservations, workers, code, job, pipeline, study) for example in module.EXAMPLES
)


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{example.rule}-{n}" for n, example in enumerate(EXAMPLES)])
def test_a_rule_finds_what_breaks_it_and_nothing_else(example: Example) -> None:
    found = broken(example.bad, example.capacity_type, **example.place)
    assert {breach.rule.id for breach in found} == {example.rule}, [str(breach) for breach in found]
    assert example.words in "\n".join(map(str, found))
    for good in example.good:
        assert [str(breach) for breach in broken(good, example.capacity_type, **example.place)] == []


def test_every_rule_has_its_examples() -> None:
    assert [rule.id for rule in TABLE] == list(dict.fromkeys(example.rule for example in EXAMPLES))


def test_rules_are_told_apart_and_say_where_they_come_from() -> None:
    assert len({rule.id for rule in TABLE}) == len(TABLE)
    for rule in TABLE:
        assert rule.text.endswith(".")
        assert rule.source[0].isdigit() or rule.source == "ours"


def test_all_that_is_wrong_comes_at_once() -> None:
    body = custom(worker(H100, 2), scheduling={"strategy": "FLEX_START", "timeout": "700000s"}, **POOL)
    assert [breach.rule.id for breach in broken(body)] == [
        "strategy",
        "timeout",
        "flex-wait",
        "pools",
    ]
