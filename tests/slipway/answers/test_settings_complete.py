"""Each field of the catalog and the facts has a row in the table of changed settings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.answers.settings import COMPUTED, settings
from slipway.model.agents import AgentAllowance
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import PricedAlternative
from slipway.model.catalog.model import SessionLimits, Team
from slipway.model.catalog.template import Parameter
from slipway.model.cluster import Adoption, DnsPeering, PscInterface, Reservation
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.season import Season
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    change,
    cluster,
    facts,
    offer,
    pool,
    request,
    template,
    worker_pool,
)

PATH = "projects/p/zones/us-central1-a/reservations/blue"
WHOLE = facts(
    cluster(
        "h100",
        pool("workers", H100, 1, 4),
        network="n",
        kms_key="k",
        reserved_ip_ranges=("r",),
        labels={"cost": "ml"},
        psc=PscInterface("attachment", (DnsPeering("a.", "p", "n"),)),
        season=Season(NOW, NOW + timedelta(9), timedelta(hours=3)),
        retire_within=timedelta(7),
        create_within=timedelta(hours=1),
        alternatives=(PricedAlternative((pool("workers", CPU, 0, 2),), "us-east1"),),
        adopted=Adoption("theirs"),
    ),
    template(
        "lora",
        offer(request=request(worker_pool(env={"A": "b"}, args=("--x=1",)), baseOutputDirectory={}), wait=60.0),
        parameters=(Parameter("steps", "int", 10, 1, 100, (10, 20)),),
        requirements=("torch==2.4",),
        shared=("common",),
        regions=("us-east1",),
    ),
    confirm_above=5.0,
    teams={"vision": Team(("user:ada@acme.example",), ("h100",))},
    budget=Budget(100.0, {"vision": 10.0}, {"ada": 5.0}),
    agents=AgentAllowance(50.0, ("n1-standard-8",)),
    reservations={PATH: Reservation(PATH, "a3-highgpu-8g", begins=NOW, ends=NOW + timedelta(3))},
    sessions=SessionLimits(timedelta(hours=8), ("h100/workers",)),
    shares={"h100": {"vision": 2}},
    board=True,
    code=True,
    shell=True,
    urgent=("user:eve@acme.example",),
    notify="projects/p/secrets/chat/versions/latest",
    other_regions=("us-east1",),
    pulumi_project="slipway",
)
WHOLE = replace(
    WHOLE,
    code=True,
    kms_key="projects/p/key",
    policy={"mandatory": {"regions": ["us-central1"]}, "grades": {"access-lost": "warning"}},
    trainers={"evals": TrainerFacts("evals", "evals@p.iam.gserviceaccount.com", {"group:ml@acme.example": "roles/x"})},
)
NOT_CHANGED = {"name", "id", "lines", "price_per_hour"}
# Other values of the same settings, or parts of an offer's identity.
TWINS = {
    "catalog.trainers",
    "catalog.submitters",
    "catalog.code",
    "catalog.dormant",
    "catalog.templates.lora.study",
    "catalog.templates.lora.code_with_inputs",
}
Put = Callable[[Any], Facts]


def put_field(put: Put, value: Any, name: str, new: Any) -> Facts:
    return put(replace(value, **{name: new}))


def put_key(put: Put, value: Mapping[str, Any], key: str, new: Any) -> Facts:
    return put({**value, key: new})


def put_item(put: Put, value: Any, number: int, new: Any) -> Facts:
    return put(type(value)((*value[:number], new, *value[number + 1 :])))


def places(value: Any, path: str, put: Put) -> Iterator[tuple[str, Any, Put]]:
    """Yield each value within, with its path, and a function that returns the facts with another value there."""
    if path in TWINS:
        return
    if is_dataclass(value):
        kind: type = type(value)
        left_out = " ".join(COMPUTED.get(base, "") for base in kind.__mro__).split()
        for field in fields(value):
            if field.init and field.name not in left_out and field.name not in NOT_CHANGED:
                inner = partial(put_field, put, value, field.name)
                yield from places(getattr(value, field.name), f"{path}.{field.name}".lstrip("."), inner)
    elif isinstance(value, Mapping) and value:
        for key, item in value.items():
            if not str(key).startswith("slipway-") and key not in ("displayName", "persistentResourceId"):
                yield from places(item, f"{path}.{key}", partial(put_key, put, value, key))
    elif isinstance(value, list | tuple) and value and (is_dataclass(value[0]) or isinstance(value[0], Mapping)):
        for number, item in enumerate(value):
            put_at = partial(put_item, put, value, number)
            yield from places(item, f"{path}[{number}]", put_at)
    else:
        yield path, value, put


def others(value: Any) -> st.SearchStrategy[Any]:
    """Return other values of the same type."""
    texts = st.text("abcdefgh", min_size=1, max_size=8)
    kinds: dict[type, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(1, 500),
        float: st.floats(0.5, 1000, allow_nan=False),
        str: texts,
        timedelta: st.integers(60, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
        datetime: st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1)).map(
            lambda moment: moment.replace(tzinfo=UTC)
        ),
        tuple: st.lists(texts, max_size=3, unique=True).map(tuple),
        list: st.lists(texts, max_size=3, unique=True),
        dict: st.dictionaries(texts, texts, min_size=1, max_size=2),
    }
    return kinds.get(type(value), texts)


# A machine's type has its accelerators, except on N1.
PLACES = [place for place in places(WHOLE, "", lambda new: new) if "machine.accelerator" not in place[0]]


@pytest.mark.parametrize(("path", "value", "put"), PLACES, ids=[place[0] for place in PLACES])
@given(data=st.data())
@hypothesis.settings(max_examples=5)
def test_a_changed_field_has_a_row(path: str, value: Any, put: Put, data: st.DataObject) -> None:
    new = data.draw(others(value).filter(lambda new: new != value))
    after = put(new)
    hypothesis.assume(after != WHOLE)
    found = settings(change(WHOLE, after).comparison)
    assert found, path
    assert all(row.before != row.after for row in found), path


def test_an_equal_stack_has_no_rows() -> None:
    assert settings(change(WHOLE, WHOLE).comparison) == ()
