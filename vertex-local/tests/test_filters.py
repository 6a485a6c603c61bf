"""Filters of lists (AIP-160) as tests on documents."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertex_local import document_filters, filter_fields
from vertex_local.document_filters import Function, value_at
from vertex_local.filter_fields import FilterField, FilterFields
from vertex_local.testing.calling import JOBS, PARENT, Calling
from vertex_local.wire import ApiError

RUN: dict[str, Any] = {
    "name": "contexts/run-1",
    "displayName": "run one",
    "schemaTitle": "system.ExperimentRun",
    "createTime": "2026-11-20T10:00:00.000000Z",
    "labels": {"team": "ml"},
    "isDefault": True,
    "metadata": {"epochs": 7.0, "optimizer": "adam"},
    "parents": ["a", "b"],
}

ANY: FilterFields = lambda path: FilterField(tuple(path), "open")  # noqa: E731


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", True),
        ('display_name="run one"', True),
        ('displayName = "run two"', False),
        ('display_name="run*"', True),
        ('display_name!="run*"', False),
        ('schema_title="system.Experiment" OR schema_title="system.ExperimentRun"', True),
        ('(schema_title="system.Experiment" OR schema_title="system.PipelineRun") AND is_default=true', False),
        ("is_default=true", True),
        ("NOT is_default=true", False),
        ("-is_default=true", False),
        ("unknown=true", False),
        ("unknown=false", True),
        ("labels.team=ml labels.team:*", True),
        ("labels.other:*", False),
        ("metadata.epochs.number_value > 6.5", True),
        ("metadata.epochs > 7", False),
        ('metadata.optimizer.string_value = "adam"', True),
        ('create_time < "2026-11-20T11:00:01+01:00"', True),
        ('create_time >= "2026-11-20T10:00:01Z"', False),
        ("parents:a", True),
        ("display_name:ONE", True),
        ('start("run")', True),
        ('start:"run"', True),
        ('display_name = start("run")', False),
        ('display_name != start("run")', True),
    ],
)
def test_a_filter_decides_about_a_document(text: str, fits: bool) -> None:
    def start(values: Any) -> Any:
        return lambda document: len(values) == 1 and document["displayName"].startswith(values[0])

    functions: dict[str, Function] = {"start": start}
    assert document_filters.parsed(text, ANY, functions)(RUN) is fits


def test_or_binds_tighter_than_and() -> None:
    assert document_filters.parsed("is_default=false AND is_default=true OR is_default=false", ANY)(RUN) is False
    assert document_filters.parsed("is_default=true AND is_default=true OR is_default=false", ANY)(RUN) is True


@pytest.mark.parametrize("text", ["display_name", "(display_name=a", "=a", 'other("a")', "a=", "a=b)", 'a="', "a=<b"])
def test_what_is_no_filter_is_refused_in_words(text: str) -> None:
    with pytest.raises(ApiError, match="Invalid filter") as caught:
        document_filters.parsed(text, ANY)
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("display_name", "an operator after 'display_name' is missing"),
        ("display_name=~a", "operator '=~' is not supported on 'display_name'"),
        ('display_name<start("a")', "'start' is not supported here"),
    ],
)
def test_what_is_wrong_with_an_operator_is_said(text: str, words: str) -> None:
    with pytest.raises(ApiError, match=re.escape(words)):
        document_filters.parsed(text, ANY, {"start": lambda values: lambda document: True})


def test_a_field_is_found_by_either_spelling() -> None:
    assert value_at(RUN, "display_name") == value_at(RUN, "displayName") == "run one"
    assert value_at(RUN, "labels.team") == "ml"
    assert value_at(RUN, "labels.team.more") is None


# --- Fields that filters and orders may name, and their values, by Google's own definitions. (N17)


CONTEXT, EXECUTION, JOB_FIELDS = (
    filter_fields.of_schema("aiplatform.v1", f"GoogleCloudAiplatformV1{name}")
    for name in ("Context", "Execution", "CustomJob")
)
ENTRY = filter_fields.of_schema("logging.v2", "LogEntry")
TREE = filter_fields.of_tree({"metric": {"type": "text", "labels": {}}, "state": frozenset({"ON"})})


@pytest.mark.parametrize(
    ("fields", "path", "known"),
    [
        (CONTEXT, "display_name", ("displayName", "text")),
        (CONTEXT, "displayName", ("displayName", "text")),
        (CONTEXT, "create_time", ("createTime", "time")),
        (CONTEXT, "labels.team", ("labels.team", "text")),
        (CONTEXT, "labels", ("labels", "whole")),
        (CONTEXT, "parent_contexts", ("parentContexts", "whole")),
        (CONTEXT, "metadata.epochs.number_value", ("metadata.epochs.number_value", "open")),
        (CONTEXT, "name.more", None),
        (CONTEXT, "colour", None),
        (CONTEXT, "create_time.seconds", None),
        (EXECUTION, "state", ("state", "choice")),
        (ENTRY, "log_name", ("logName", "text")),
        (ENTRY, "resource.labels.job_id", ("resource.labels.job_id", "text")),
        (ENTRY, "jsonPayload.a.b", ("jsonPayload.a.b", "open")),
        (ENTRY, "httpRequest.status", ("httpRequest.status", "number")),
        (ENTRY, "errorGroups.id", ("errorGroups.id", "text")),
        (ENTRY, "traceSampled", ("traceSampled", "flag")),
        (ENTRY, "payload", None),
        (TREE, "metric.labels.x", ("metric.labels.x", "open")),
        (TREE, "metric.kind", None),
        (TREE, "metric", ("metric", "whole")),
    ],
)
def test_a_field_is_known_by_either_spelling(fields: FilterFields, path: str, known: tuple[str, str] | None) -> None:
    names = fields(path.split("."))
    assert (names and (".".join(names.path), names.kind)) == known


@pytest.mark.parametrize(
    ("fields", "field", "sign", "value", "words"),
    [
        (EXECUTION, "state", "=", "COMPLETE", ""),
        (EXECUTION, "state", "=", "DONE", "'DONE' is no value of 'state'"),
        (EXECUTION, "state", ":", "*", ""),
        (CONTEXT, "create_time", "<", "2026-11-20T10:00:00Z", ""),
        (CONTEXT, "create_time", "<", "noon", "'noon' is not a time"),
        (CONTEXT, "create_time", "<", "2026-11-20T10:00:00", "no time zone"),
        (CONTEXT, "labels", "=", "a", "only asked what it has"),
        (CONTEXT, "labels", ":", "a", ""),
        (CONTEXT, "display_name", "=", "*", ""),
        (ENTRY, "httpRequest.status", ">", "many", "is a number"),
        (ENTRY, "traceSampled", "=", "perhaps", "true or false"),
        (TREE, "state", "=", "OFF", "which are ON"),
    ],
)
def test_a_value_that_a_field_can_t_have_is_refused(
    fields: FilterFields, field: str, sign: str, value: str, words: str
) -> None:
    known = fields((field,) if "." not in field else field.split("."))
    assert known
    said = known.objection(sign, value)
    assert (words in said) if words else said == ""


def test_a_page_token_is_good_for_its_own_list_alone(calling: Calling) -> None:
    for name in ("a", "b", "c"):
        calling.job(displayName=name)
    token = calling.call("GET", f"{JOBS}?pageSize=1&filter=display_name!=x")["nextPageToken"]
    assert calling.call("GET", f"{JOBS}?pageSize=2&filter=display_name!=x&pageToken={token}")["customJobs"]
    for other in (f"{JOBS}?pageToken={token}", f"{JOBS}?filter=display_name!=y&pageToken={token}"):
        assert "the other arguments" in calling.refused("GET", other).message
    assert calling.refused("GET", f"/v1/{PARENT}/models?filter=display_name!=x&pageToken={token}").code == 400


# --- The filter of lists, on jobs.


MADE = [
    {
        "displayName": name,
        "state": state,
        "jobSpec": {"persistentResourceId": cluster} if cluster else {},
        "createTime": f"2026-11-20T{hour}:00:00.000000Z",
        "labels": labels,
    }
    for name, state, cluster, hour, labels in (
        ("train-a", "JOB_STATE_RUNNING", "cpu", 10, {"team": "ml", "run-request": "r1"}),
        ("train-b", "JOB_STATE_FAILED", None, 11, {"team": "web"}),
        ("100%_x", "JOB_STATE_QUEUED", "gpu", 12, {}),
    )
]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "train-a train-b 100%_x"),
        ('display_name="train-a"', "train-a"),
        ('displayName!="train-a"', "train-b 100%_x"),
        ('display_name:"train-*"', "train-a train-b"),
        ('display_name:"%_"', "100%_x"),
        ('state="JOB_STATE_RUNNING" OR state="JOB_STATE_QUEUED"', "train-a 100%_x"),
        ("state=JOB_STATE_FAILED", "train-b"),
        ("NOT state=JOB_STATE_FAILED", "train-a 100%_x"),
        ("-state=JOB_STATE_FAILED", "train-a 100%_x"),
        ('labels.run-request="r1"', "train-a"),
        ("labels.team:*", "train-a train-b"),
        ("labels.team!=ml", "train-b 100%_x"),
        ('create_time>"2026-11-20T10:30:00Z"', "train-b 100%_x"),
        ('create_time<="2026-11-20T12:00:00+01:00"', "train-a train-b"),
        ('job_spec.persistent_resource_id="gpu"', "100%_x"),
        ("labels.team:* AND (state=JOB_STATE_FAILED OR state=JOB_STATE_QUEUED)", "train-b"),
        # OR binds tighter than AND (AIP-160).
        ("labels.team=ml OR labels.team=web AND state=JOB_STATE_FAILED", "train-b"),
        ("labels.team=ml state=JOB_STATE_RUNNING", "train-a"),
    ],
)
def test_a_filter_finds(text: str, names: str) -> None:
    test = document_filters.parsed(text, JOB_FIELDS)
    assert [job["displayName"] for job in MADE if test(job)] == names.split()


@pytest.mark.parametrize(
    "text",
    [
        "colour=red",
        "state",
        "state=",
        "state>JOB",
        "state=JOB_STATE_BUSY",
        'create_time>"2026-11-20T10:30:00"',
        'Create_Time>"noon"',
        "labels=a",
        "(state=x",
        "state=x)",
        'create_time>"noon"',
        "=",
        '"',
    ],
)
def test_a_filter_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="Invalid filter"):
        document_filters.parsed(text, JOB_FIELDS)


@given(st.text(max_size=40))
def test_no_text_breaks_the_filter(text: str) -> None:
    try:
        test = document_filters.parsed(text, JOB_FIELDS)
    except ApiError as error:
        assert error.code == 400
    else:
        assert [test(job) for job in MADE]
