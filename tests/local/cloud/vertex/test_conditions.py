"""The filter of lists, as a condition of SQL."""

import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.vertex import conditions
from local.cloud.vertex.messages import MESSAGES
from local.cloud.wire import ApiError

JOBS = MESSAGES.fields("v1", "CustomJob")


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE jobs (display_name, state, cluster, create_time, body)")
    rows = [
        ("train-a", "JOB_STATE_RUNNING", "cpu", "2026-11-20T10:00:00.000000Z", {"team": "ml", "slipway-request": "r1"}),
        ("train-b", "JOB_STATE_FAILED", None, "2026-11-20T11:00:00.000000Z", {"team": "web"}),
        ("100%_x", "JOB_STATE_QUEUED", "gpu", "2026-11-20T12:00:00.000000Z", {}),
    ]
    for name, state, cluster, moment, labels in rows:
        body = json.dumps({"labels": labels} if labels else {})
        connection.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?)", (name, state, cluster, moment, body))
    return connection


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
        ('labels.slipway-request="r1"', "train-a"),
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
def test_a_filter_finds(database: sqlite3.Connection, text: str, names: str) -> None:
    found = conditions.condition(text, conditions.FIELDS, JOBS)
    rows = database.execute(f"SELECT display_name FROM jobs WHERE {found.sql}", found.values)
    assert [name for (name,) in rows] == names.split()


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
        "labels.a<b",
        'create_time>"noon"',
        "=",
        '"',
    ],
)
def test_a_filter_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="Invalid filter"):
        conditions.condition(text, conditions.FIELDS, JOBS)


@given(st.text(max_size=40))
def test_no_text_breaks_the_filter(text: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE jobs (display_name, state, cluster, create_time, body)")
    try:
        found = conditions.condition(text, conditions.FIELDS, JOBS)
    except ApiError as error:
        assert error.code == 400
    else:
        database.execute(f"SELECT * FROM jobs WHERE {found.sql}", found.values)
