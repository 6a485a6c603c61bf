"""The request of a job: its id and name, the JSON that is sent, and whether a job is the one that it asks for."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import escaped, names, unescaped
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind
from slipway.model.labels import IMAGE_START, VARIABLE, parameters_in, recorded
from slipway.model.prices import UNKNOWN
from slipway.using.submission.request import Request, checked_request_id, fill, job_name, new_request_id
from slipway.using.submission.same_request import same


def test_a_job_is_named_after_template_and_request() -> None:
    ids = {new_request_id() for _ in range(1000)}
    assert len(ids) == 1000 and all(checked_request_id(item) == item for item in ids)
    assert re.fullmatch(r"dask-digits-[a-z2-7]{8}", job_name("dask-digits", ids.pop()))


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


def filled(values: dict[str, Value], user: str = "Ada") -> dict[str, Any]:
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
    scheduler, workers = body["jobSpec"]["workerPoolSpecs"]
    assert scheduler["pythonPackageSpec"]["args"] == ["--claim", "gs://work/claims/r1"]
    assert (workers["replicaCount"], workers["pythonPackageSpec"]["args"][1]) == (2, "2"), "a number where it is one"


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
    """Text stays as it was written in a job file; a `$` right before a value is the one thing that needs a space of its
    own, and a `$(` that the text leaves open ends at a value's `)`, as the service reads it."""
    assume(not re.search(r"\$\([^)]*$", re.sub(r"\$\$|\$\([^)]*\)", "", text)))
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

    def sent(**values: Value) -> list[str]:
        body = fill(CATALOG, TEMPLATE, offer, values, request_id="r1", user="")
        return [variable["name"] for variable in body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"]]

    assert sent(name="") == ["A", "SLIPWAY_PARAMETERS"]
    assert sent(name="x") == ["NOTE", "A", "SLIPWAY_PARAMETERS"]


def test_a_placeholder_that_nobody_fills_is_the_catalogs_fault() -> None:
    with pytest.raises(ConfigError, match=r"\$\{name\}"):
        filled({"workers": 1})


def test_a_command_is_sent_with_the_parameters_that_it_names_and_recorded_without() -> None:  # N11
    template = replace(TEMPLATE, parameters=(Parameter("name", "str", command=True),))
    values: dict[str, Value] = {"workers": 2, "name": "run --lr {lr} {tag}", "lr": "0.1", "tag": "$(HOME) b"}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, REQUEST)
    body = fill(CATALOG, template, offer, values, request_id="r1", user="Ada")
    args = body["jobSpec"]["workerPoolSpecs"][1]["pythonPackageSpec"]["args"]
    assert args[0] == "--name=run --lr 0.1 '$$(HOME) b'"
    assert VertexJob.read(body).parameters == values


TASK: dict[str, Any] = {
    "args": ["--title=a b", "--trees=5"],
    "command": ["train"],
    "env": [{"name": "LR", "value": "0.1"}, {"name": "SLIPWAY_PARAMETERS", "value": '{"size":"small"}'}],
}
LABELS = {"slipway-template": "digits"}


def spec(package: str = "gs://c/digits-1.tar.gz", **task: Any) -> dict[str, Any]:
    worker = {"machineSpec": {"machineType": "n1-standard-8"}, "replicaCount": "2"}
    code = {"containerSpec": {**TASK, **task}, "pythonPackageSpec": {"packageUris": [package]}}
    return {"workerPoolSpecs": [{**worker, **code}]}


def asks(kind: JobKind, **body: Any) -> Request:
    return Request("nightly", "dev", "digits", {"labels": LABELS, **body}, kind)


CUSTOM = asks(CUSTOM_JOB, jobSpec=spec())
STUDY = asks(TUNING_JOB, maxTrialCount=8, parallelTrialCount=2, trialJobSpec=spec())
UPLOAD = asks(PIPELINE, trainingTaskInputs=spec(), modelToUpload={"displayName": "digits"})
RECORDED = {"name": "SLIPWAY_PARAMETERS", "value": '{"size":"large"}'}


@pytest.mark.parametrize(
    ("then", "changes", "said"),
    [
        (CUSTOM, {"jobSpec": spec(args=["--title=a b", "--trees=6"])}, "arguments"),
        (CUSTOM, {"jobSpec": spec(args=["--title=a", "b", "--trees=5"])}, "arguments"),
        (CUSTOM, {"jobSpec": spec(command=["test"])}, "command: train then, test now"),
        (CUSTOM, {"jobSpec": spec(env=TASK["env"][1:])}, "environment: LR=0.1 then, none now"),
        (CUSTOM, {"jobSpec": spec(env=[TASK["env"][0], RECORDED])}, "parameters: size=small then, size=large now"),
        (STUDY, {"maxTrialCount": 9}, "trials: 8, 2 at once then, 9, 2 at once now"),
        (STUDY, {"parallelTrialCount": 1}, "trials: 8, 2 at once then, 8, 1 at once now"),
        (UPLOAD, {"modelToUpload": {"displayName": "d"}}, "model: digits then, d now"),
    ],
)
def test_what_was_sent_is_the_same_and_with_other_parameters_something_else(
    then: Request, changes: dict[str, Any], said: str
) -> None:
    made = VertexJob.read({**then.body, "name": "projects/p/locations/r/customJobs/1"}, then.kind)
    assert same(then, made) is made
    with pytest.raises(ConfigError, match="used before, for something else") as error:
        same(replace(then, body={**then.body, **changes}), made)
    assert said in error.value.why


def test_newer_code_is_the_same_and_another_kind_is_not() -> None:
    made = VertexJob.read(CUSTOM.body)
    assert same(asks(CUSTOM_JOB, jobSpec=spec("gs://c/digits-2.tar.gz")), made) is made
    with pytest.raises(ConfigError) as error:
        same(asks(PIPELINE, trainingTaskInputs=spec()), made)
    assert error.value.why == "kind: custom-job then, training-pipeline now"


def of_image(
    *, launcher: bool, file: str = "own-0123456789ab.pyz", claim: str = "gs://work/claims/id"
) -> dict[str, Any]:
    words, args = ["python", "-m", "train"], ["--rate=1"]
    own = [*("--claim", claim, "--code="), *(f"--exec={word}" for word in words), "--", *args]
    command = [*IMAGE_START, f"/gcs/c/packages/{file}"] if launcher else words
    container = {"imageUri": "a@sha256:1", "command": command, "args": own if launcher else args}
    return {"jobSpec": {"workerPoolSpecs": [{"replicaCount": 1, "containerSpec": container}]}}


def request(body: dict[str, Any], **more: Any) -> Request:
    return Request(id="id", stack="local", template="", body=body, bucket="work", **more)


def test_an_image_with_a_launcher_runs_once_and_one_without_at_least_once() -> None:  # N7, N27
    once, bare = request(of_image(launcher=True)), request(of_image(launcher=False))
    assert once.runs_once and once.claim == once.mark == bare.mark == "gs://work/claims/id"
    assert not bare.runs_once and not bare.claim and bare.when_twice == "two jobs both run"
    both = of_image(launcher=True)
    both["jobSpec"]["workerPoolSpecs"] += of_image(launcher=False)["jobSpec"]["workerPoolSpecs"]
    assert not request(both).runs_once and request(both).when_twice == "two jobs both run", "one role takes no claim"


def test_an_images_claim_stays_where_it_was_sent_first() -> None:  # N7, N27
    moved = request(of_image(launcher=True)).claimed_in("elsewhere")
    assert moved.claim == "gs://elsewhere/claims/id" and moved.runs_once
    assert moved.body == of_image(launcher=True, claim="gs://elsewhere/claims/id")


def test_an_image_is_the_same_with_another_launcher() -> None:  # N27
    """Each release has another one."""
    now = request(of_image(launcher=True))
    assert same(now, VertexJob.read(of_image(launcher=True, file="own-ba9876543210.pyz")))
    other = of_image(launcher=True)
    other["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"][-1] = "--rate=2"
    with pytest.raises(ConfigError, match="something else"):
        same(now, VertexJob.read(other))
