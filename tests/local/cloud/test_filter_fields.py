"""Fields that filters and orders may name, and their values, by Google's own definitions. (N17)"""

from urllib.parse import quote

import pytest

from local.cloud import filter_fields
from local.cloud.filter_fields import FilterFields
from local.cloud.vertex.messages import MESSAGES
from tests.local.cloud.calling import JOBS, PARENT, Calling

CONTEXT, EXECUTION = MESSAGES.fields("v1", "Context"), MESSAGES.fields("v1", "Execution")
ENTRY = filter_fields.of_schema("logging.v2", "LogEntry")
TREE = filter_fields.of_tree({"metric": {"type": None, "labels": {}}, "state": frozenset({"ON"})})


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
    found = fields(path.split("."))
    assert (found and (".".join(found.path), found.kind)) == known


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


def test_logs_and_time_series_know_their_fields(calling: Calling) -> None:
    asked = {"resourceNames": ["projects/slipway-local"], "filter": 'colour="red"'}
    assert "no field 'colour'" in calling.refused("POST", "/v2/entries:list", asked).message
    series = "/v3/projects/slipway-local/timeSeries?interval.endTime=2026-11-20T10:00:00Z&filter="
    known = 'metric.type="ml.googleapis.com/training/cpu/utilization"'
    assert calling.call("GET", series + quote(known)) == {}
    assert "colour" in calling.refused("GET", series + quote(f'{known} AND colour="red"')).message
    assert "colour" in calling.refused("GET", series + quote(f'{known} AND colour=starts_with("r")')).message
    grouped = (
        "&aggregation.perSeriesAligner=ALIGN_MEAN&aggregation.alignmentPeriod=60s&aggregation.groupByFields=colour"
    )
    assert "colour" in calling.refused("GET", series + quote(known) + grouped).message
    missing = calling.refused("GET", series + quote('metric.type="custom.googleapis.com/x"'))
    assert missing.code == 404 and "Cannot find metric(s)" in missing.message


def test_log_names_are_found_by_either_spelling(calling: Calling) -> None:
    entries = {"logName": "projects/slipway-local/logs/l", "entries": [{"text_payload": "x"}]}
    calling.call("POST", "/v2/entries:write", entries)
    for name in ("logName", "log_name"):
        asked = {"resource_names": ["projects/slipway-local"], "filter": f'{name}="projects/slipway-local/logs/l"'}
        assert [item["textPayload"] for item in calling.call("POST", "/v2/entries:list", asked)["entries"]] == ["x"]


def test_a_project_is_found_by_any_of_its_fields(calling: Calling) -> None:
    for text in ("name:slipway*", "id:slipway-local", "name:other OR id:SLIPWAY-LOCAL", "lifecycleState:ACTIVE", ""):
        assert len(calling.call("GET", f"/v1/projects?filter={quote(text)}")["projects"]) == 1, text
    assert calling.call("GET", f"/v3/projects:search?query={quote('state:DELETE_REQUESTED')}") == {}


def test_services_are_listed_by_their_state_and_in_pages(calling: Calling) -> None:
    path = "/v1/projects/slipway-local/services"
    first = calling.call("GET", f"{path}?filter=state:ENABLED&pageSize=2")
    assert len(first["services"]) == 2 and first["nextPageToken"]
    assert calling.call("GET", f"{path}?filter=state:DISABLED") == {}
    assert "allowed are" in calling.refused("GET", f"{path}?filter=state:BUSY").message


def test_a_page_token_is_good_for_its_own_list_alone(calling: Calling) -> None:
    for name in ("a", "b", "c"):
        calling.job(displayName=name)
    token = calling.call("GET", f"{JOBS}?pageSize=1&filter=display_name!=x")["nextPageToken"]
    assert calling.call("GET", f"{JOBS}?pageSize=2&filter=display_name!=x&pageToken={token}")["customJobs"]
    for other in (f"{JOBS}?pageToken={token}", f"{JOBS}?filter=display_name!=y&pageToken={token}"):
        assert "the other arguments" in calling.refused("GET", other).message
    assert calling.refused("GET", f"/v1/{PARENT}/models?filter=display_name!=x&pageToken={token}").code == 400
