"""Parameters are read back out of a job's request, and only where they are sure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slipway.catalog.model import Catalog, Offer, Parameter, Template
from slipway.kinds import CUSTOM_JOB
from slipway.money import Price
from slipway.submission.recovery import RecoveredSubmission, recover
from slipway.submission.request import fill

MACHINE = {"machineType": "n1-standard-4"}


def catalog(
    *parameters: Parameter, args: list[str], replicas: str = "1", when: Mapping[str, Any] | None = None
) -> Catalog:
    labels = {"slipway-template": "digits", "slipway-capacity-type": "spot", "slipway-request": "${slipway.request}"}
    spec = {"machineSpec": MACHINE, "replicaCount": replicas, "containerSpec": {"args": args}}
    output = {"outputUriPrefix": "${slipway.output}"}
    job_spec = {"workerPoolSpecs": [spec], "baseOutputDirectory": output}
    request = {"displayName": "${slipway.job}", "labels": labels, "jobSpec": job_spec}
    offer = Offer("spot", True, "", "", (), Price(Decimal(1)), request, when=when or {})
    template = Template("digits", "", "custom-job", ("main",), parameters, (offer,))
    return Catalog("dev", "p", "r", "", False, "w", "t", {}, (), {"digits": template})


def sent(of: Catalog, **values: Any) -> RecoveredSubmission:
    """Read back out of the JSON of the job that these values make; whole numbers come back as texts."""
    template = of.templates["digits"]
    body = fill(of, template, template.offers[0], values, request_id="r1", user="ada")
    read = json.loads(json.dumps(body), parse_int=str)
    found = recover(of, CUSTOM_JOB, read)
    assert found
    return found


TREES = Parameter("trees", "int", False, 100, 1, 5000)
NOTE = Parameter("note", "str", False, "")


def test_what_is_the_default_needs_no_typing() -> None:
    found = sent(catalog(TREES, NOTE, args=["--trees=${trees}", "--note", "${note}"]), trees=100, note="x y")
    assert found.words() == ["-p", "note=x y"]
    assert found.words(trees=50) == ["-p", "trees=50", "-p", "note=x y"]


def test_numbers_of_machines_and_texts_beside_the_jobs_own_names() -> None:
    found = sent(catalog(TREES, args=["${slipway.output}/${trees}/model"], replicas="${trees}"), trees=7)
    assert found.values == {"trees": 7} and found.unknown == ()


@given(note=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40), trees=st.integers(1, 5000))
def test_any_text_comes_back_as_it_was(note: str, trees: int) -> None:
    found = sent(catalog(TREES, NOTE, args=["${note}", "--trees=${trees}"]), trees=trees, note=note)
    assert found.values == {"trees": trees, "note": note}


def test_two_in_one_text_are_not_guessed_apart() -> None:
    found = sent(catalog(TREES, NOTE, args=["${note}-${trees}"]), trees=7, note="a-b")
    assert found.unknown == ("trees", "note") and found.words() == ["-p", "trees=…", "-p", "note=…"]


def test_a_variants_value_is_known_from_its_machines() -> None:
    size = Parameter("size", "str", False, "2b", choices=("2b", "9b", "27b"))
    assert sent(catalog(size, args=[], when={"size": ("27b",)}), size="27b").words() == ["-p", "size=27b"]
    # Either of them makes the same request.
    assert sent(catalog(size, args=[], when={"size": ("9b", "27b")}), size="27b").words() == ["-p", "size=9b"]


def test_variants_with_the_same_machines_are_told_apart_by_what_else_the_request_says() -> None:
    size = Parameter("size", "str", False, "2b", choices=("2b", "27b"))
    fast = Parameter("fast", "bool", False, False)
    one = catalog(size, fast, args=["--size=${size}"], when={"size": ("27b",), "fast": (False,)})
    template, offer = one.templates["digits"], one.templates["digits"].offers[0]
    other = replace(offer, when={"size": ("2b",), "fast": (True,)})
    both = replace(one, templates={"digits": replace(template, offers=(offer, other))})
    body = fill(both, template, other, {"size": "2b", "fast": True}, request_id="r", user="")
    found = recover(both, CUSTOM_JOB, body)
    assert found and found.words() == ["-p", "fast=true"]


def test_a_value_that_the_template_takes_no_more_is_unknown() -> None:
    old = catalog(TREES, args=["${trees}"])
    body = fill(old, old.templates["digits"], old.templates["digits"].offers[0], {"trees": 9}, request_id="r", user="")
    body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"] = ["many"]
    found = recover(old, CUSTOM_JOB, body)
    assert found and found.unknown == ("trees",)


def test_a_job_of_no_template_or_by_an_offer_that_is_gone() -> None:
    now = catalog(TREES, args=[])
    assert recover(now, CUSTOM_JOB, {"labels": {"slipway-template": "other", "slipway-capacity-type": "spot"}}) is None
    assert recover(now, CUSTOM_JOB, {"labels": {"slipway-template": "digits", "slipway-capacity-type": "pool"}}) is None
    assert recover(now, CUSTOM_JOB, {}) is None
