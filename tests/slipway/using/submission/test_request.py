"""The request of a job: its id and name, the JSON that is sent, and whether a job is the one that it asks for."""

import copy
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog, Offer, Parameter, Template
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.placeholders import escaped, names, unescaped
from slipway.model.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind
from slipway.model.labels import VARIABLE, parameters_in, recorded
from slipway.model.prices import UNKNOWN
from slipway.using.submission.request import Request, checked_request_id, fill, job_name, new_request_id
from slipway.using.submission.same_request import same


def test_a_job_is_named_after_template_and_request() -> None:
    assert re.fullmatch(r"dask-digits-[a-z2-7]{8}", job_name("dask-digits", new_request_id()))


def test_the_same_request_gives_the_same_name() -> None:
    assert job_name("t", "nightly-1") == job_name("t", "nightly-1") != job_name("t", "nightly-2")


def test_new_ids_are_fit_and_different() -> None:
    ids = {new_request_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(checked_request_id(one) == one for one in ids)


@pytest.mark.parametrize("text", ["", "A", "-a", "a b", "a.b", "ä", "a" * 64, 'a"'])
def test_an_id_that_could_be_no_label_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        checked_request_id(text)


CATALOG = Catalog(
    "local", "p", "us-central1", "3f9c2e1", False, "work", "t", {"cpu": Cluster("cpu", (), id="cpu-1")}, (), {}
)
TEMPLATE = Template("digits", "", "custom-job", ("scheduler", "workers"), (), ())
REQUEST: dict[str, Any] = {
    "displayName": "${slipway.job}",
    "labels": {"slipway-template": "digits", "slipway-request": "${slipway.request}"},
    "jobSpec": {
        "baseOutputDirectory": {"outputUriPrefix": "${slipway.output}"},
        "workerPoolSpecs": [
            {"replicaCount": 1, "pythonPackageSpec": {"args": ["--claim", "gs://work/claims/${slipway.request}"]}},
            {
                "replicaCount": "${workers}",
                "pythonPackageSpec": {
                    "args": ["--name=${name}", "${workers}"],
                    "env": [{"name": "N", "value": "${name}"}],
                },
            },
        ],
    },
}


def filled(values: dict[str, Scalar], user: str = "Ada") -> dict[str, Any]:
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, REQUEST)
    return fill(CATALOG, TEMPLATE, offer, values, request_id="r1", user=user)


def test_names_labels_and_places_are_filled() -> None:
    body = filled({"workers": 2, "name": "x"})
    job = job_name("digits", "r1")
    assert body["displayName"] == job
    assert body["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"] == f"gs://work/jobs/{job}"
    assert body["labels"] == {
        "slipway-template": "digits",
        "slipway-request": "r1",
        "slipway-user": "ada",
        "slipway-roles": "scheduler_workers",
    }
    assert body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"] == ["--claim", "gs://work/claims/r1"]


def test_a_whole_placeholder_becomes_a_number_where_the_field_is_one() -> None:
    workers = filled({"workers": 2, "name": "x"})["jobSpec"]["workerPoolSpecs"][1]
    assert workers["replicaCount"] == 2
    assert workers["pythonPackageSpec"]["args"][1] == "2"


def test_the_catalog_is_not_changed() -> None:
    filled({"workers": 2, "name": "x"})
    assert REQUEST["displayName"] == "${slipway.job}"


def test_a_user_without_a_name_gets_no_label() -> None:
    assert "slipway-user" not in filled({"workers": 1, "name": ""}, user="")["labels"]


@given(st.text())
def test_a_value_is_never_expanded_again(text: str) -> None:
    value = f"{text}${{slipway.request}}"
    args = filled({"workers": 1, "name": value})["jobSpec"]["workerPoolSpecs"][1]["pythonPackageSpec"]["args"]
    assert args[0].endswith("${slipway.request}")


def test_the_services_own_expansion_is_escaped_in_values() -> None:
    package = filled({"workers": 1, "name": "$(HOME) $5 $(1)"})["jobSpec"]["workerPoolSpecs"][1]["pythonPackageSpec"]
    assert package["args"][0] == "--name=$$(HOME) $5 $$(1)"
    assert package["env"][0]["value"] == "$$(HOME) $5 $$(1)"


def kubernetes(text: str, known: dict[str, str]) -> str:
    """As its documentation has it: `$$` is `$`, `$(NAME)` a variable, an unknown one stays."""
    return re.sub(r"\$\$|\$\(([^)]*)\)", lambda it: "$" if it[0] == "$$" else known.get(it[1], it[0]), text)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("${a}(HOME)", "{a}(HOME)"),
        ("$${a}", "${a}"),
        ("$$${a}", "${a}"),
        ("${a}${b}", "{a}{b}"),
        ("${a}$(HOME)", "{a}/root"),
        ("${a}$$(HOME)", "{a}$(HOME)"),
        ("$(HOME)${a}", "/root{a}"),
    ],
)
@given(a=st.text("$()HOME a", max_size=12), b=st.text("$()HOME a", max_size=12))
def test_no_part_of_an_expansion_is_smuggled_in(template: str, expected: str, a: str, b: str) -> None:
    task = {
        "containerSpec": {"args": [template], "env": [{"name": "N", "value": f"={template}"}], "command": [template]}
    }
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, {"jobSpec": {"workerPoolSpecs": [task]}})
    body = fill(CATALOG, TEMPLATE, offer, {"a": a, "b": b}, request_id="r1", user="")
    found = body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]
    said = expected.replace("{a}", "\0").replace("{b}", b).replace("\0", a)
    for text in (found["args"][0], found["command"][0], found["env"][0]["value"].removeprefix("=")):
        assert kubernetes(text, {"HOME": "/root"}) == said


@given(text=st.text("$(){}aHOME ", max_size=16), a=st.text("$(){}a", max_size=4))
def test_a_template_may_hold_any_text_beside_its_placeholders(text: str, a: str) -> None:
    """As it was written in a job file; a `$` right before a value is the one thing that needs a space of its own."""
    written = f"{escaped(text)} ${{a}}"
    assert names(unescaped(written)) == ("a",)
    after = unescaped(f"${{a}}{escaped(text)}")
    task = {"containerSpec": {"args": [unescaped(escaped(text)), unescaped(written), after]}}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, {"jobSpec": {"workerPoolSpecs": [task]}})
    body = fill(CATALOG, TEMPLATE, offer, {"a": a}, request_id="r1", user="")
    same, before_value, after_value = body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"]
    assert same == text
    assert kubernetes(before_value, {}) == f"{kubernetes(text, {})} {a}"
    assert kubernetes(after_value, {}) == f"{a}{kubernetes(text, {})}"


@pytest.mark.parametrize(
    ("written", "catalog"),
    [
        ("${a}", "${a}"),
        ("$${a}", "${slipway.dollar}{a}"),
        ("$$${a}", "$$${a}"),
        ("$$$${a}", "$${slipway.dollar}{a}"),
        ("$${A:-${a}}", "${slipway.dollar}{A:-${a}}"),
        ("$$(HOME) $$", "$$(HOME) $$"),
    ],
)
def test_a_brace_after_two_dollars_begins_no_placeholder(written: str, catalog: str) -> None:
    assert unescaped({"args": [written, 1]}) == {"args": [catalog, 1]}


def test_what_the_service_does_not_expand_is_as_it_was_given() -> None:
    model = {"displayName": "${name}", "description": "$${name}", "containerSpec": {"args": ["${name}"]}}
    request = {"trainingTaskInputs": {"workerPoolSpecs": []}, "modelToUpload": model, "labels": {"l": "${name}"}}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, request, kind="training-pipeline")
    body = fill(CATALOG, TEMPLATE, offer, {"name": "$(HOME)"}, request_id="r1", user="")
    assert body["modelToUpload"] == {
        "displayName": "$(HOME)",
        "description": "$$(HOME)",
        "containerSpec": {"args": ["$$(HOME)"]},
    }
    assert body["labels"]["l"] == "$(HOME)"


def test_every_replica_has_the_parameters_as_canonical_json() -> None:
    body = filled({"workers": 2, "name": "$(HOME) $$(A) é"})
    for pool in body["jobSpec"]["workerPoolSpecs"]:
        assert pool["pythonPackageSpec"]["env"][-1] == {
            "name": "SLIPWAY_PARAMETERS",
            "value": '{"name":"$$(HOME) $$$$(A) é","workers":2}',
        }
    assert VertexJob.read(body).parameters == {"name": "$(HOME) $$(A) é", "workers": 2}


def test_a_container_has_them_too_and_a_skipped_worker_pool_stays_empty() -> None:
    tasks: list[dict[str, Any]] = [{"imageUri": "i"}, {"env": [{"name": "A", "value": "1"}, {"name": "B"}]}]
    pools = [{"containerSpec": tasks[0]}, {}, {"containerSpec": tasks[1]}]
    request = {"trainingTaskInputs": {"workerPoolSpecs": pools}}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, request, kind="training-pipeline")
    body = fill(CATALOG, TEMPLATE, offer, {"rate": 1.0, "fast": True}, request_id="r1", user="")
    variable = {"name": "SLIPWAY_PARAMETERS", "value": '{"fast":true,"rate":1.0}'}
    assert body["trainingTaskInputs"]["workerPoolSpecs"] == [
        {"containerSpec": {"imageUri": "i", "env": [variable]}},
        {},
        {"containerSpec": {"env": [{"name": "A", "value": "1"}, variable]}},
    ]


@given(
    st.dictionaries(
        st.text(), st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
    )
)
def test_any_parameters_come_back_as_they_were(values: dict[str, Any]) -> None:
    assert parameters_in([f"{VARIABLE}={recorded(values)}"]) == values
    assert recorded(values) == recorded(dict(sorted(values.items(), reverse=True)))
    assert "'" not in recorded(values), "the service takes no apostrophe in a variable"


def test_a_variable_that_came_out_empty_is_not_sent() -> None:
    env = [
        {"name": "SWEEP", "value": "${slipway.sweep}"},
        {"name": "NOTE", "value": "${name}"},
        {"name": "A", "value": "1"},
    ]
    pools = [{"containerSpec": {"env": env}}]
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, {"jobSpec": {"workerPoolSpecs": pools}})

    def sent(**values: Scalar) -> list[str]:
        body = fill(CATALOG, TEMPLATE, offer, values, request_id="r1", user="")
        return [one["name"] for one in body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"]]

    assert sent(name="") == ["A", "SLIPWAY_PARAMETERS"]
    assert sent(name="x") == ["NOTE", "A", "SLIPWAY_PARAMETERS"]


def test_a_placeholder_that_nobody_fills_is_the_catalogs_fault() -> None:
    with pytest.raises(ConfigError, match=r"\$\{name\}"):
        filled({"workers": 1})


def test_a_command_is_sent_with_the_parameters_that_it_names_and_recorded_without() -> None:  # N11
    template = replace(TEMPLATE, parameters=(Parameter("name", "str", command=True),))
    values: dict[str, Scalar] = {"workers": 2, "name": "run --lr {lr} {tag}", "lr": "0.1", "tag": "$(HOME) b"}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, REQUEST)
    body = fill(CATALOG, template, offer, values, request_id="r1", user="Ada")
    args = body["jobSpec"]["workerPoolSpecs"][1]["pythonPackageSpec"]["args"]
    assert args[0] == "--name=run --lr 0.1 '$$(HOME) b'"
    assert VertexJob.read(body).parameters == values


BODY: dict[str, Any] = {
    "displayName": "digits-1",
    "labels": {"slipway-template": "digits"},
    "jobSpec": {
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-8"},
                "replicaCount": "2",
                "pythonPackageSpec": {
                    "args": ["--title=a b", "--trees=5"],
                    "env": [{"name": "LR", "value": "0.1"}, {"name": "MODE", "value": "full"}],
                    "packageUris": ["gs://c/digits-1.tar.gz"],
                },
            }
        ]
    },
}


def request(body: dict[str, Any]) -> Request:
    return Request("nightly", "dev", "digits", body)


def changed(**task: Any) -> dict[str, Any]:
    body = copy.deepcopy(BODY)
    body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"] |= task
    return body


def test_what_was_sent_is_the_same_also_with_newer_code() -> None:
    made = VertexJob.read({**BODY, "name": "projects/p/locations/r/customJobs/1"})
    assert same(request(BODY), made) is made
    assert same(request(changed(packageUris=["gs://c/digits-2.tar.gz"])), made) is made


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"args": ["--title=a b", "--trees=6"]}, "arguments"),
        ({"args": ["--title=a", "b", "--trees=5"]}, "arguments"),
        (
            {"env": [{"name": "LR", "value": "0.2"}, {"name": "MODE", "value": "full"}]},
            "environment: LR=0.1 MODE=full then, LR=0.2",
        ),
        ({"env": [{"name": "MODE", "value": "full"}]}, "environment: LR=0.1 MODE=full then, MODE=full now"),
    ],
)
def test_other_parameters_are_something_else_wherever_they_stand(task: dict[str, Any], said: str) -> None:
    made = VertexJob.read({**BODY, "name": "projects/p/locations/r/customJobs/1"})
    with pytest.raises(ConfigError, match="used before, for something else") as error:
        same(request(changed(**task)), made)
    assert said in error.value.why


IMAGE_JOB: dict[str, Any] = {
    "labels": {"slipway-template": "digits"},
    "jobSpec": {"workerPoolSpecs": [{"replicaCount": "1", "containerSpec": {"command": ["train", "--trees=5"]}}]},
}
STUDY: dict[str, Any] = {
    "labels": {"slipway-template": "digits"},
    "maxTrialCount": 8,
    "parallelTrialCount": 2,
    "trialJobSpec": BODY["jobSpec"],
}
UPLOAD: dict[str, Any] = {
    "labels": {"slipway-template": "digits"},
    "trainingTaskInputs": BODY["jobSpec"],
    "modelToUpload": {"displayName": "digits"},
}


@pytest.mark.parametrize(
    ("body", "kind", "other", "said"),
    [
        (
            IMAGE_JOB,
            CUSTOM_JOB,
            {"jobSpec": {"workerPoolSpecs": [{"replicaCount": "1"}]}},
            "command: train --trees=5 then",
        ),
        (STUDY, TUNING_JOB, {"maxTrialCount": 9}, "trials: 8, 2 at once then, 9, 2 at once now"),
        (STUDY, TUNING_JOB, {"parallelTrialCount": 1}, "trials: 8, 2 at once then, 8, 1 at once now"),
        (UPLOAD, PIPELINE, {"modelToUpload": {"displayName": "d"}}, "model: digits then, d now"),
    ],
)
def test_parameters_beside_the_arguments_make_something_else_too(
    body: dict[str, Any], kind: JobKind, other: dict[str, Any], said: str
) -> None:
    made = VertexJob.read(body, kind)
    assert same(replace(request(body), kind=kind), made) is made
    with pytest.raises(ConfigError) as error:
        same(replace(request({**body, **other}), kind=kind), made)
    assert said in error.value.why


def test_another_kind_is_something_else() -> None:
    made = VertexJob.read(BODY)
    pipeline = {"labels": BODY["labels"], "trainingTaskInputs": BODY["jobSpec"]}
    with pytest.raises(ConfigError) as error:
        same(replace(request(pipeline), kind=PIPELINE), made)
    assert error.value.why == "kind: custom-job then, training-pipeline now"


def test_recorded_parameters_are_compared() -> None:
    def recording(value: str) -> dict[str, Any]:
        task = BODY["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
        return changed(env=[*task["env"], {"name": "SLIPWAY_PARAMETERS", "value": value}])

    made = VertexJob.read(recording('{"size":"small","trees":5}'))
    assert same(request(recording('{"size":"small","trees":5}')), made) is made
    with pytest.raises(ConfigError) as error:
        same(request(recording('{"size":"large","trees":5}')), made)
    assert error.value.why == "parameters: size=small, trees=5 then, size=large, trees=5 now"
