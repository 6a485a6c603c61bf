"""Effects of a template's change on those who submit it, beside what the corpus has: every difference is named, and
no order alone is one. # N3 # N8 # D3"""

import copy
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any, cast

import pytest

from slipway.model.catalog.template import Parameter
from slipway.reviewing.rules.templates.templates import templates
from tests.slipway.reviewing.builders import H100, UNREAD, change, facts, offer, request, template, worker_pool
from tests.slipway.reviewing.rules.templates.two_ways import BLOCKING, LORA, POOL, SPOT, found, only


def test_use_that_could_not_be_read_is_not_claimed() -> None:
    (finding,) = found(LORA, None, recent=UNREAD)
    unknown = "not known: who used it in the last 30 days"
    assert (finding.grade, finding.details) == (BLOCKING, (unknown,))


def test_another_order_of_pools_is_none_of_capacity_types() -> None:
    """The clusters' order, or a new name of one, is the cause, and `--capacity pool` chooses neither."""
    cpu, night = (replace(offer(cluster=name), pools=("workers",)) for name in ("cpu", "night"))
    moved = only(replace(LORA, offers=(cpu, night)), replace(LORA, offers=(night, cpu)))
    assert moved.phrase == "Jobs of {it} try pool `night` before pool `cpu`"
    assert moved.field == ""


def test_a_template_can_be_submitted_when_its_defaults_can() -> None:  # N6
    """`gemma2-lora` *can be submitted*, while no type takes its defaults."""
    model = Parameter("model", "str", "2b", choices=("2b", "27b"))
    small, large = (replace(SPOT, when={"model": (word,)}) for word in ("2b", "27b"))
    short = replace(small, available=False, lacks_quota=True, why="quota: short by 1")
    fine, dead = (replace(LORA, parameters=(model,), offers=some) for some in ((small, large), (short, large)))
    runs = "a usual run (model=2b) costs $0.22/h on Spot"
    assert only(None, fine).sentence == f"`lora` is new: {runs}"
    new = {consequence.kind: consequence for consequence in found(None, dead)}
    assert new["template-added"].sentence == "`lora` is new"
    left = "Jobs of `lora` with its defaults can't run: quota: short by 1"
    assert (new["no-offer-left"].sentence, new["no-offer-left"].grade) == (left, BLOCKING)
    assert "no-offer-left" in {consequence.kind for consequence in found(fine, dead)}
    assert "no-offer-left" not in {consequence.kind for consequence in found(dead, dead)}


@pytest.mark.parametrize(
    ("opens", "words"),
    [
        ({"serviceAccount": "owner@elsewhere.iam.gserviceaccount.com"}, "as `owner@elsewhere.iam.gserviceaccount.com`"),
        ({"enableWebAccess": True}, "a shell in the browser"),
    ],
)
def test_what_a_new_template_opens_that_no_other_has_stops_a_merge(opens: dict[str, Any], words: str) -> None:
    new = replace(LORA, name="new", offers=tuple(replace(offer, request=request(**opens)) for offer in LORA.offers))
    told = templates(change(facts(template()), facts(template(), new)))
    (added,) = (consequence for consequence in told if consequence.kind == "template-added")
    assert (added.grade, words in added.sentence) == (BLOCKING, True), added.sentence


WHOLE = request(
    worker_pool(image="a:1", args=("--x=1",), env={"A": "1"}), worker_pool(H100, 2, reservation="projects/p/r")
) | {"encryptionSpec": {"kmsKeyName": "k"}}


SILENT = ("persistentResourceId", "packageUris")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return [path]
    return [leaf for key, inner in items for leaf in leaves(inner, (*path, key))]


@pytest.mark.parametrize("path", [path for path in leaves(WHOLE) if not set(path) & set(SILENT)], ids=repr)
def test_no_single_difference_of_a_request_is_silent(path: tuple[Any, ...]) -> None:
    old, other, less = (
        replace(LORA, offers=(replace(POOL, request=copy.deepcopy(WHOLE), roles=("chief", "worker")),))
        for _ in range(3)
    )
    changed, shorter = (reduce(getitem, path[:-1], cast(Any, version.offers[0].request)) for version in (other, less))
    changed[path[-1]] = "7"
    del shorter[path[-1]]
    assert found(old, other) and found(old, less)
    assert found(old, old) == []
