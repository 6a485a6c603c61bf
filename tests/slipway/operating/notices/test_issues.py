"""One issue for each notice, written anew only when its shape changes, closed when it is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.operating.notices.issues import MOST, Issue, steps
from slipway.operating.notices.notice import Notice, Notices, line
from slipway.reviewing.forges.github import Request, issues_of, request

LOOKED = frozenset({("drift", "prod"), ("stock-out", "prod")})
ONE = Notice(
    "stock-out",
    "prod",
    "h100",
    "a1",
    "prod: cluster h100 can't be made",
    (line("no machines", "pulumi up"),),
)
OTHER = replace(ONE, shape="b2")


def now(*notices: Notice, looked: frozenset[tuple[str, str]] = LOOKED) -> Notices:
    return Notices(notices, looked)


def after(told: Notices, *issues: Issue) -> tuple[Issue, ...]:
    """The issues when the steps were taken."""
    there = {one.number: one for one in issues}
    for step in steps(told, issues):
        if not step.comment:
            number = step.number or 1 + len(there)
            is_open = there[number].open if step.number and step.open is None else step.open is not False
            there[number] = Issue(number, is_open, step.body)
    return tuple(there.values())


def requests(told: Notices, *issues: Issue) -> list[Request]:
    return [request(one) for one in steps(told, issues)]


def does(told: Notices, *issues: Issue) -> list[str]:
    return [f"{one.method} {one.path}" for one in requests(told, *issues)]


(OPEN,) = after(now(ONE))
BY_HAND = replace(OPEN, open=False)
(OVER,) = after(now(), OPEN)


def test_the_first_is_opened_and_the_same_is_not_touched() -> None:
    assert does(now(ONE)) == ["POST issues"]
    assert does(now(ONE), OPEN) == []
    assert does(now(replace(ONE, lines=(line("no machines for 9 days"),))), OPEN) == [], "its shape is the same"


def test_another_shape_writes_it_anew_and_says_so_once() -> None:
    assert does(now(OTHER), OPEN) == ["PATCH issues/1", "POST issues/1/comments"]
    assert does(now(OTHER), *after(now(OTHER), OPEN)) == []


def test_it_is_closed_when_it_is_over_and_taken_up_again_when_it_comes_back() -> None:
    assert not OVER.open
    assert does(now(), OVER) == []
    assert does(now(ONE), OVER) == ["PATCH issues/1", "POST issues/1/comments"], "the same shape, and no second issue"
    (again,) = after(now(ONE), OVER)
    assert again.open


def test_what_a_person_closed_stays_so_until_it_changes() -> None:
    assert does(now(ONE), BY_HAND) == []
    (again,) = after(now(OTHER), BY_HAND)
    assert again.open
    # It was over in between: nobody hears of that, and the next time it is news.
    assert does(now(), BY_HAND) == ["PATCH issues/1"]
    (forgotten,) = after(now(), BY_HAND)
    assert not forgotten.open and does(now(), forgotten) == []
    assert after(now(ONE), forgotten)[0].open


def test_what_was_not_looked_at_stays_as_it_is() -> None:
    assert does(now(looked=frozenset({("stock-out", "dev"), ("drift", "prod")})), OPEN) == []


def test_of_two_for_the_same_the_open_one_counts() -> None:
    second = replace(BY_HAND, number=2)
    assert does(now(OTHER), second, OPEN) == ["PATCH issues/1", "POST issues/1/comments"]


@pytest.mark.parametrize(
    "body",
    ["", "words", "<!-- slipway-notice -->", '<!-- slipway-notice {"kind": "x"} -->', "<!-- slipway-notice {]} -->"],
)
def test_an_issue_without_its_marker_is_none_of_ours(body: str) -> None:
    assert does(now(), Issue(9, True, body)) == []


def test_a_marker_is_found_after_github_has_made_other_line_ends_of_it() -> None:
    assert does(now(ONE), replace(OPEN, body=OPEN.body.replace("\n", "\r\n"))) == []


def test_no_more_than_some_are_opened_at_once_and_the_most_urgent_first() -> None:
    many = [replace(ONE, kind="drift", subject=str(number)) for number in range(40)]
    asked = steps(now(*many, ONE), ())
    assert len(asked) == MOST
    assert asked[0].title == ONE.title
    # The others are told at the next times.
    assert len(after(now(*many, ONE), *after(now(*many, ONE)))) == 2 * MOST


EVIL = "h100` @acme/leads #7 [x](http://evil.example) <img src=x> --> \n# Title\n| a |"


def test_nothing_that_a_name_says_is_more_than_text() -> None:
    evil = replace(ONE, subject=EVIL, title=EVIL, lines=(line(f"job {EVIL} runs", f"slipway jobs show {EVIL}"),))
    (step,) = steps(now(evil), ())
    marker, _, shown = step.body.partition("\n")
    assert marker.count("-->") == 1 and marker.endswith("-->")
    words, _, command = shown.splitlines()[0].rpartition("`slipway jobs show")
    for live in ("@acme", "#7", "](", "<img", "http:", "-->"):
        assert live not in words, live
    assert "`" not in command.removesuffix("`"), "nothing in a name ends the code that it stands in"
    assert "\n" not in step.title and "`" not in step.title
    assert does(now(evil), Issue(1, True, step.body)) == [], "and it is known again"


def test_a_long_list_is_cut_and_says_so() -> None:
    (step,) = steps(now(replace(ONE, lines=tuple(line(f"thing {n}") for n in range(30)))), ())
    assert "thing 19\n- and 10 more\n" in step.body


def test_issues_are_read_as_github_has_them() -> None:
    listed = [{"number": 3, "state": "open", "body": None}, {"number": 4, "state": "closed", "body": "b"}]
    assert issues_of(listed) == (Issue(3, True, ""), Issue(4, False, "b"))


def test_a_request_says_what_it_does() -> None:
    (opening,) = requests(now(ONE))
    assert (opening.method, opening.path) == ("POST", "issues") and opening.body["title"] == ONE.title
    assert opening.says == f"opens an issue: {ONE.title}"
    assert [one.method for one in requests(now(), OPEN)] == ["POST", "PATCH"]
    assert requests(now(), OPEN)[1].body["state_reason"] == "completed"
    assert [one.body.get("state") for one in requests(now(OTHER), OPEN)] == [None, None], "it is open, and stays so"
