"""Whatever stands in a catalog, a submission can be made of it, or it is refused in words: never a fault of ours."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slipway.authoring.template.proof import StackResources, prove
from slipway.base.codec import write as written
from slipway.base.errors import ConfigError, PolicyError, SlipwayError
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.publication import catalog_of, draws, template_entry
from slipway.google.catalog.document import published, read, write
from slipway.google.catalog.lookup import find_template
from slipway.google.quota.report import OfferVerdict
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Template
from slipway.model.cluster import Reservation
from slipway.template import Image, Metric, Parameter, Search, Study, Variant, WorkerPool
from slipway.using.submission.candidate import price, summary
from slipway.using.submission.offline import offline, offline_candidate
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest
from tests.builders.documents import places, with_value
from tests.builders.templates import job_template as template
from tests.slipway.authoring.template.conftest import CONTEXT

from .test_document import CPU, CURRENT, STACK

SOURCE = "gs://c/catalog.json"
HERE = replace(CONTEXT, project="acme-dev")
PACKAGED = template(
    kinds=("custom-job", "hyperparameter-tuning-job", "training-pipeline"),
    study=Study((Metric("loss"),), (Search("rate", "discrete", values=(0.1, 0.5)),), "${trials}", 2),
    capacity_types=("pool", "spot"),
    experiment="digits",
    env={"A": "${name}"},
    parameters=(
        Parameter("workers", int, default=2, min=1, max=16),
        Parameter("trees", int, default=200, min=1),
        Parameter("trials", int, default=4, min=1, max=9),
        Parameter("name", str, default="a", choices=("a", "b")),
        Parameter("fast", bool, default=False),
        Parameter("rate", float, default=1),
    ),
    variants=(Variant({"fast": True}, capacity_types=("on-demand",)),),
    worker_pools=(
        WorkerPool("scheduler", "n1-standard-4", args=("--trees=${trees}", "--rate=${rate}")),
        WorkerPool("workers", "n1-standard-8", replicas="${workers}"),
    ),
)
IMAGE = template(
    name="image", code=Image(f"a/b@sha256:{'0' * 64}", ("run",)), capacity_types=("pool", "on-demand"), env={"A": "1"}
)


def document() -> dict[str, Any]:
    """What a deployment publishes of two templates."""
    entries = {}
    for asked in (PACKAGED, IMAGE):
        placements = prove(asked, StackResources((CPU,)))
        verdicts = {draw.label: OfferVerdict(True) for draw in draws(asked, placements)}
        packages = dict.fromkeys(asked.uploaded, "packages/p.tar.gz")
        entries[asked.name] = template_entry(asked, placements, verdicts, HERE, packages)
    text = write(catalog_of(CONTEXT, STACK, Plan((of_current(CURRENT),)), entries))
    body: dict[str, Any] = json.loads(text)
    return body


DOCUMENT = document()
OFFER = ("templates", "dask-digits", "offers", 0)
SPEC = (*OFFER, "request", "jobSpec")
PARAMETERS = ("templates", "dask-digits", "parameters")


def changed(path: tuple[Any, ...], value: Any) -> str:
    return json.dumps(with_value(DOCUMENT, path, value))


def templates_in(content: str) -> list[Template]:
    catalog = read(content, SOURCE)
    return [find_template(catalog, name) for name in catalog.templates]


def submit_all(content: str) -> None:
    """As far as each submission goes without asking anybody. Raises SlipwayError."""
    catalog = read(content, SOURCE)
    problem = None
    for name, found in catalog.templates.items():
        for kind in (None, *found.kinds):
            for params in ({}, {"fast": "true"}, {"rate": "0.5"}):
                try:
                    submit_one(catalog, SubmissionRequest(name, params, kind=kind))
                except SlipwayError as error:
                    problem = error
    if problem is not None:
        raise problem


def submit_one(catalog: Catalog, asked: SubmissionRequest) -> None:
    prepared = prepare(catalog, asked, "ada")
    for candidate in prepared.candidates:
        if offline(candidate) is None:
            assert summary(candidate, catalog.region) and price(catalog, candidate) is not None
        json.dumps(candidate.body, allow_nan=False, ensure_ascii=False).encode()
        assert candidate.request.mark


PATH = "projects/acme/zones/us-central1-a/reservations/three"
RESERVED = template(
    capacity_types=("reservation",),
    worker_pools=(
        WorkerPool("chief", "n1-standard-8", args=("--trees=${trees}",), reservation="three"),
        WorkerPool("workers", "n1-standard-8", replicas="${workers}", reservation="three"),
    ),
)


def test_a_reservation_gives_no_more_machines_than_the_stack_says_it_holds() -> None:  # Z6
    reservations = {"three": Reservation(PATH, "n1-standard-8", machines=3)}
    context, stack = replace(HERE, reservations=reservations), replace(STACK, reservations=reservations)
    placements = prove(RESERVED, StackResources((), region="us-central1", reservations=reservations))
    packages = dict.fromkeys(RESERVED.uploaded, "packages/p.tar.gz")
    entry = template_entry(RESERVED, placements, {"reservation": OfferVerdict(True)}, context, packages)
    catalog = read(write(catalog_of(context, stack, Plan(), {RESERVED.name: entry})), SOURCE)
    found = {}
    for workers in ("2", "5"):
        prepared = prepare(catalog, SubmissionRequest(RESERVED.name, {"workers": workers}), "ada")
        (candidate,) = prepared.candidates
        found[workers] = offline(candidate, reserved=catalog.reservations)
    why = f"worker pool 1: {PATH} holds 3 machines, the job needs 6; lower the replicas [reservation-fits]"
    assert found["2"] is None and found["5"] is not None and found["5"].reasons == (why,)
    with pytest.raises(PolicyError) as refused:
        offline_candidate(prepared)
    assert why in refused.value.why


def test_what_is_published_can_be_submitted() -> None:
    submit_all(json.dumps({**DOCUMENT, "templates": {"dask-digits": DOCUMENT["templates"]["dask-digits"]}}))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["${name}", "${trees}", "${nothing}", "${slipway.job}", "1e999s", "\ud800", 10**400, 0, ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(path=st.sampled_from([*places(DOCUMENT)][1:]), value=JSON)
def test_a_catalog_changed_anywhere_is_submitted_by_or_refused_in_words(path: tuple[Any, ...], value: Any) -> None:
    try:
        submit_all(changed(path, value))
    except SlipwayError as error:
        assert str(error)


DEEP: Any = "x"
for _ in range(200):
    DEEP = {"inner": DEEP}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ((*PARAMETERS, 1, "default"), "lots; rm", "parameters[1].default is 'lots; rm', which is not of type int"),
        ((*PARAMETERS, 0, "default"), 99, "parameters[0].default is 99, which is above max 16"),
        ((*PARAMETERS, 3, "default"), "c", "parameters[3].default is 'c', which is none of the choices a, b"),
        ((*PARAMETERS, 3, "choices", 1), "a\0", "parameters[3].choices[1] is 'a\\x00', which has a null character"),
        ((*PARAMETERS, 0, "name"), "$(rm)", "parameters[0].name is '$(rm)', where a parameter's name is expected"),
        ((*PARAMETERS, 0, "max"), 10**400, "parameters[0].max is 1000"),
        ((*PARAMETERS, 0, "name"), "\ud800", "not valid JSON"),
        ((*OFFER, "kind"), "a; rm", "offers[0].kind is 'a; rm', where a name is expected"),
        (("templates",), {"x; rm": DOCUMENT["templates"]["image"]}, "'x; rm', where a name"),
        ((*OFFER, "request", "deep"), DEEP, "more than 100 levels"),
        ((*OFFER, "request", "labels"), [], "request.labels is [], where an object is expected"),
        ((*SPEC, "scheduling"), None, "offers[0].request.jobSpec.scheduling is None, where an object is expected"),
        ((*SPEC, "scheduling", "maxWaitDuration"), "1e999s", "scheduling.maxWaitDuration is not finite"),
        ((*SPEC, "workerPoolSpecs", 0, "pythonPackageSpec", "env"), None, "Spec.env is None, where a list of objects"),
        (("clusters", "cpu", "pools", "workers", "pricePerHour"), "cheap", "pricePerHour is 'cheap'"),
        ((*SPEC, "workerPoolSpecs", 0, "diskSpec", "bootDiskSizeGb"), float("inf"), "not valid JSON: Infinity is not"),
    ],
)
def test_the_place_of_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        templates_in(changed(path, value))
    assert said in error.value.why and SOURCE in error.value.what


@pytest.mark.parametrize(
    ("change", "strange"),
    [({"kind": "notebook-job"}, "kind notebook-job"), ({"capacityType": "calendar"}, "capacity type calendar")],
)
def test_what_only_a_newer_version_knows_is_read_and_not_available(change: dict[str, str], strange: str) -> None:
    offers = DOCUMENT["templates"]["dask-digits"]["offers"]
    catalog = read(changed(OFFER, {**offers[0], **change}), SOURCE)
    first, *others = catalog.templates["dask-digits"].offers
    assert not first.available and f" {strange}; update slipway" in first.why
    assert len(others) == len(offers) - 1 and all(offer.available for offer in others if offer.kind == "custom-job")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"type": "list", "default": ["a", "b"], "choices": [["a"]]}, "parameters[1].type is 'list', where one of int"),
        ({"default": {"uri": "gs://b/x"}}, "parameters[1].default is {'uri': 'gs://b/x'}, where a value is expected"),
    ],
)
def test_a_template_that_only_a_newer_version_understands_leaves_the_others_as_they_are(
    change: dict[str, Any], said: str
) -> None:
    parameter = DOCUMENT["templates"]["dask-digits"]["parameters"][1]
    content = changed((*PARAMETERS, 1), {**parameter, **change})
    catalog = read(content, SOURCE)
    submit_one(catalog, SubmissionRequest("image"))
    with pytest.raises(ConfigError) as error:
        prepare(catalog, SubmissionRequest("dask-digits"), "ada")
    assert said in error.value.why and SOURCE in error.value.what and "update slipway" in str(error.value.fix)
    whole = published(content.encode(), SOURCE).whole
    assert whole is not None and whole.templates["image"] == catalog.templates["image"]


NAMED = {"templates", "clusters", "pools", "when", "labels", "trainers", "dormant", "reservations", "removed"}
NAMED |= {"quotas", "submitters", "teams", "workElsewhere"}
OBJECTS = [
    path
    for path in places(DOCUMENT)
    if isinstance(reduce(getitem, path, DOCUMENT), dict) and "request" not in path and not NAMED & {*path[-1:]}
]
"""The places where a newer version may have a field more: not where keys are names, nor in what is posted as it is."""
IN_TEMPLATE = [path for path in places(DOCUMENT) if path[:2] == ("templates", "dask-digits") and len(path) > 2]
NEWER = st.from_regex(r"x[A-Z][a-z]{1,8}", fullmatch=True)


@given(path=st.sampled_from(OBJECTS), key=NEWER, value=JSON.filter(lambda value: not _unwritable(value)))
def test_a_field_that_only_a_newer_version_knows_changes_nothing(path: tuple[Any, ...], key: str, value: Any) -> None:
    content = changed((*path, key), value)
    assert written(read(content, SOURCE)) == written(read(json.dumps(DOCUMENT), SOURCE))


@given(path=st.sampled_from(IN_TEMPLATE), value=JSON.filter(lambda value: not _unwritable(value)))
def test_whatever_a_newer_version_publishes_of_a_template_it_is_that_template_alone_that_others_miss(
    path: tuple[Any, ...], value: Any
) -> None:  # N31
    catalog = read(changed(path, value), SOURCE)
    submit_one(catalog, SubmissionRequest("image"))
    changed_one = catalog.templates["dask-digits"]
    if changed_one.unread:
        with pytest.raises(ConfigError) as error:
            find_template(catalog, "dask-digits")
        assert "templates.dask-digits" in error.value.why and "update slipway" in str(error.value.fix)


@given(type_=st.sampled_from(["list[bool]", "list[list[int]]", "dict[str,int]", "date", "list"]) | NEWER, default=JSON)
def test_a_parameter_of_a_type_of_a_newer_version_says_so(type_: str, default: Any) -> None:  # N31
    assume(not _unwritable(default))
    entry = {"name": "new", "type": type_, "default": default}
    catalog = read(changed((*PARAMETERS, 1), entry), SOURCE)
    submit_one(catalog, SubmissionRequest("image"))
    with pytest.raises(ConfigError) as error:
        find_template(catalog, "dask-digits")
    assert "parameters[1]" in error.value.why and "update slipway" in str(error.value.fix)


def _unwritable(value: Any) -> bool:
    """Tell whether no JSON carries the value, so that no catalog has it."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return True
    return False


def test_a_cluster_that_is_dormant_for_a_reason_of_a_newer_version_is_dormant() -> None:
    entry = DOCUMENT["clusters"]["cpu"] | {"why": "maintenance", "since": "2026-11-20T10:00:00+00:00"}
    dormant = read(json.dumps({**DOCUMENT, "dormant": {"gpu": entry}}), SOURCE).dormant["gpu"]
    assert not dormant.comes and not dormant.edit
    assert "does not exist (maintenance)" in dormant.words and "update slipway" in dormant.words


@pytest.mark.parametrize("form", [str.encode, lambda text: b"\xef\xbb\xbf" + text.encode()])
def test_an_editor_may_have_put_a_mark_before_it(form: Callable[[str], bytes]) -> None:
    catalog = read(form(json.dumps(DOCUMENT)), SOURCE)
    assert written(catalog) == written(read(json.dumps(DOCUMENT), SOURCE))
