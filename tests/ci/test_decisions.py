"""No function has more than 15 decision points, except those of the lists beside this file, which only get shorter."""

import pytest

from .decisions import COMMAND, LISTS, Comparison, Function, compare, functions_of, in_code, listed

BIG = Function("a.py", "big", 20)


@pytest.mark.parametrize("name", LISTS)
def test_no_function_is_new_in_the_list_or_has_more_points(name: str) -> None:
    rejected = compare(listed(name), in_code(LISTS[name])).rejected
    assert [str(function) for function in rejected] == [], "split it: at most 15 decision points a function"


@pytest.mark.parametrize("name", LISTS)
def test_the_list_has_no_function_that_is_gone_or_has_fewer_points(name: str) -> None:
    outdated = compare(listed(name), in_code(LISTS[name])).outdated
    assert [str(function) for function in outdated] == [], f"remove or lower these lines: {COMMAND}"


def test_decision_points_are_counted_in_nested_functions_and_comprehensions() -> None:
    source = (
        "class A:\n  def one(self, xs):\n    def inner(): return [x for x in xs if x and x > 1]\n    return inner\n"
    )
    assert functions_of(source, "a.py") == []
    (inner, one) = sorted(functions_of(source.replace("x > 1", " and ".join(["x"] * 14)), "a.py"), key=str)
    assert (inner.name, inner.points) == ("A.one", 16) and (one.name, one.points) == ("A.one.inner", 16)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([BIG], Comparison((), (), (BIG,))),
        ([Function("a.py", "big", 21)], Comparison((Function("a.py", "big", 21),), (), (BIG,))),
        ([Function("a.py", "big", 17)], Comparison((), (BIG,), (Function("a.py", "big", 17),))),
        ([], Comparison((), (BIG,), ())),
        ([BIG, Function("b.py", "new", 16)], Comparison((Function("b.py", "new", 16),), (), (BIG,))),
        ([Function("a.py", "renamed", 20)], Comparison((), (BIG,), (Function("a.py", "renamed", 20),))),
        ([Function("b.py", "big", 18)], Comparison((), (BIG,), (Function("b.py", "big", 18),))),
        ([Function("b.py", "other", 18)], Comparison((Function("b.py", "other", 18),), (BIG,), ())),
        ([Function("a.py", "renamed", 21)], Comparison((Function("a.py", "renamed", 21),), (BIG,), ())),
    ],
    ids=["same", "worse", "lower", "gone", "new", "renamed", "moved", "unrelated", "renamed and worse"],
)
def test_a_list_follows_the_code_only_downwards(now: list[Function], expected: Comparison) -> None:
    assert compare([BIG], now) == expected
