"""A review as JSON and back, what of it the base branch has already, and whose addresses are masked. # N5 # N14"""

import json
from dataclasses import replace
from typing import Any

import pytest

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.cost import Costs
from slipway.answers.settings import Setting
from slipway.base.errors import ConfigError
from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.render.comment import MARKER
from slipway.reviewing.render.redaction import redacted
from slipway.reviewing.review import Review, read, write
from slipway.reviewing.reviewer import mark_known, plan_lines

H100 = Subject("cluster", "h100")


def goes(name: str = "x", **fields: Any) -> Finding:
    return replace(KINDS["cluster-deleted"].of(Subject("cluster", name), "goes", grade=Grade.BLOCKING), **fields)


REJECTED = Answer("submission", ("lora", "pool"), H100, State.NO, "maximum is 4", {"machines": 8, "account": None})
WHOLE = Review(
    "prod",
    (goes(facts={"jobs": 2}, details=("a",)),),
    (Setting(H100, "pools.workers.replicas.max", "8", "4"),),
    (Difference("submission", H100, (REJECTED.key,), None, REJECTED),),
    costs=Costs(idle_before=None, idle=1.5, most_before=2.0, most=3.0),
    on_main=frozenset({goes().key}),
)


def test_a_document_and_back() -> None:
    assert read(json.loads(json.dumps(write(WHOLE))), "x") == WHOLE


@pytest.mark.parametrize("key", write(WHOLE).keys())
def test_a_cut_document_is_refused(key: str) -> None:
    with pytest.raises(ConfigError):
        read({name: value for name, value in write(WHOLE).items() if name != key}, "x")


def test_another_document_is_refused() -> None:
    bodies: tuple[object, ...] = (None, [], {"kind": "jobs"}, {"kind": "review", "schema": 2})
    for body in bodies:
        with pytest.raises(ConfigError, match="not a review"):
            read(body, "x")


def test_every_text_is_rewritten_and_no_name_of_slipway() -> None:
    shouted = json.dumps(write(WHOLE.rewritten(str.upper)))
    assert "cluster-deleted" in shouted and '"submission"' in shouted
    assert not {'"goes"', '"a"', "h100", '"maximum is 4"', "pools.workers", '"lora"'} & {*shouted.split(": ")}
    assert "GOES" in shouted and "MAXIMUM IS 4" in shouted and "H100" in shouted


def test_what_main_has_is_not_yours() -> None:
    both = mark_known(Review("prod", (goes("x"), goes("y"))), Review("prod", (goes("x"),)))
    assert [finding.subject for finding in both.yours] == ["cluster y"]


@pytest.mark.parametrize(
    ("main", "mine"),
    [
        (goes(grade=Grade.WARNING), goes()),
        (goes(sentence="runs `a`"), goes(sentence="runs `evil`")),
        (goes(details=("`owner@acme-ml`",)), goes(details=("`owner@evil`",))),
    ],
    ids=["worse", "otherwise", "otherwise in its details"],
)
def test_what_is_not_as_on_main_is_yours(main: Finding, mine: Finding) -> None:
    assert mark_known(Review("prod", (mine,)), Review("prod", (main,))).yours == (mine,)


def test_of_things_whose_names_are_hidden_none_is_on_main_unless_all_are() -> None:
    known, new = goes(sentence="runs `(hidden)`"), goes(sentence="runs `(hidden)` as root")
    assert mark_known(Review("prod", (known, new)), Review("prod", (known,))).yours == (known, new)


def test_a_name_of_many_lines_is_one_step_of_the_plan() -> None:
    named = EngineStep("create", "urn", "x:y:Z", f"a\n{MARKER}\n" + "n" * 1_000_000)
    (line,) = plan_lines(Preview((named,)))
    assert line.startswith("create x:y:Z a <!--") and len(line) < 400


def test_people_s_addresses_are_masked_and_accounts_are_not() -> None:
    account = "trainer@p.iam.gserviceaccount.com"
    member = Subject("member", "user:ada.l@acme.example")
    found = KINDS["access-lost"].of(
        member, f"used `{account}`", "ask bob@acme.example", field="bob@acme.example", by="cy@acme.example"
    )
    whole = Review("prod", (found,), (Setting(member, "role", "eve@acme.example", ""),), notes=("dan@acme.example",))
    masked = json.dumps(write(redacted(whole)), ensure_ascii=False)
    assert account in masked and "user:a…@acme.example" in masked and "b…@acme.example" in masked
    assert not [name for name in ("ada.l", "bob", "cy@", "eve", "dan") if name in masked]


def test_addresses_on_lines_that_the_change_edits_are_shown() -> None:
    found = goes(sentence="`ada@acme.example` and `abe@acme.example`")
    masked = redacted(Review("prod", (found,), addresses=("ada@acme.example",)))
    assert masked.findings[0].sentence == "`ada@acme.example` and `a…@acme.example`"
    assert "abe@acme.example" not in json.dumps(write(masked))


def test_of_people_whose_masked_addresses_are_equal_all_are_on_main_or_none() -> None:
    ada, abe, bob = (goes(subject=Subject("member", f"user:{name}@acme.example")) for name in ("ada", "abe", "bob"))
    masked = redacted(Review("prod", (ada, abe, bob), on_main=frozenset({ada.key, bob.key})))
    assert [finding.subject for finding in masked.yours] == ["member user:a…@acme.example"] * 2
    assert "ada@acme.example" not in json.dumps(write(masked))
