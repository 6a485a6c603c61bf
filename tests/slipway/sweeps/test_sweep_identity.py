"""What makes a sweep this one: the digest of what was asked for, which no version may change. # N7"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from slipway.submission.candidates import SubmissionRequest
from slipway.submission.request import RequestOverrides
from slipway.sweeps.points import Given, Point
from slipway.sweeps.sweep_journal import SweepDigests, instead

TEXTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
ASKED = SubmissionRequest("digits")


def points(*values: dict[str, str]) -> list[Point]:
    return [Point({name: Given(text, "", "") for name, text in one.items()}, "") for one in values]


def digest(asked: SubmissionRequest) -> str:
    return SweepDigests(points({"seed": "1"})).of(asked)


@given(params=TEXTS, values=st.lists(TEXTS, max_size=3), type_=st.none() | st.text(max_size=5))
def test_a_digest_is_of_canonical_json(params: dict[str, str], values: list[dict[str, str]], type_: str | None) -> None:
    asked = SubmissionRequest("digits", params, type_)
    what = {"template": "digits", "params": params, "kind": None, "package": "", "experiment": "", "points": values}
    canonical = json.dumps({**what, "capacityType": type_}, sort_keys=True)
    assert SweepDigests(points(*values)).of(asked) == hashlib.sha256(canonical.encode()).hexdigest()


def test_code_of_ones_own_is_told_by_the_code_whatever_is_packed_beside_it() -> None:
    """A version with another launcher would make another sweep of the same code, and every run once more."""
    code = RequestOverrides(package="gs://w/code/1/digits-1.tar.gz", code="abc")
    same, other = replace(code, package="gs://w/code/2/digits-2.tar.gz"), replace(code, code="abd")
    now, later, others = (digest(replace(ASKED, overrides=one)) for one in (code, same, other))
    assert now == later != others


def test_what_to_give_and_to_leave_out_instead() -> None:
    spot, named = replace(ASKED, capacity_type="spot"), replace(ASKED, kind="custom-job")
    assert instead(ASKED, spot) == ({"capacity": "spot"},)
    assert instead(spot, ASKED) == ("without ", {"capacity": "spot"})
    assert instead(spot, named) == ({"kind": "custom-job"}, ", without ", {"capacity": "spot"})
