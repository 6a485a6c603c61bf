"""The catalog and the documents of `--output json`, as fixed values make them. Keys and their forms are an interface;
their order is recorded with them. # N4 # N8

`recorded/NAME.json` has each as it was first printed; one that is to change is deleted and recorded anew:
`SLIPWAY_RECORD=1 python -m pytest tests/goldens/test_documents.py`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any, cast

import pytest

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.cost import Costs
from slipway.answers.settings import Setting
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import FileMistake, from_text
from slipway.base.columns import documents
from slipway.deploying.deployment.schedule import Due
from slipway.deploying.engine.drift import NextDeployment
from slipway.deploying.engine.drift import drift as drift_of
from slipway.front.cli.check import Checked, _json
from slipway.front.cli.doctor import document as doctor
from slipway.front.cli.drift import document as drift
from slipway.front.cli.jobs.download import _document as download
from slipway.front.cli.jobs.show import JobDetails, _document
from slipway.front.cli.pools import pool_columns
from slipway.front.cli.quota import document as quota
from slipway.front.cli.templates import COLUMNS as TEMPLATES
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.documents import catalog_document, dates_document, usage_document
from slipway.front.cli.terminal.submission_document import document as submission
from slipway.front.cli.terminal.sweep_outcome import document as sweep
from slipway.front.cli.terminal.sweep_outcome import forecast_document
from slipway.google.catalog.document import read as read_catalog
from slipway.google.catalog.document import write as catalog_text
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.failures import Call, CloudError
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Live, Unknown
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.google.quota.request import Requested
from slipway.google.storage import Location, StoredObject
from slipway.model.capacity import WEEK
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.prices import UNKNOWN, Price, hourly
from slipway.model.season import Season
from slipway.operating.doctor.reading import Drifted
from slipway.operating.pool_rows import rows
from slipway.reviewing.review import Review, read_all, write_all
from slipway.using.context import Clock, Context
from slipway.using.jobs.description import describe
from slipway.using.jobs.download import Download
from slipway.using.jobs.earlier_jobs import Times
from slipway.using.jobs.failure import Failure
from slipway.using.jobs.log import JobEvent, JobEvents
from slipway.using.jobs.outputs import LeftOut, OutputFile
from slipway.using.jobs.roles import who_of
from slipway.using.jobs.utilization import Utilization
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import Choice, JudgedCandidate
from slipway.using.submission.costs import RunTotal
from slipway.using.submission.ending import NextStep
from slipway.using.submission.request import Request
from slipway.using.submission.sender import Attempt
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.sweeps.forecast import Forecast, Share
from slipway.using.sweeps.runs import RemainingRuns, Run
from slipway.using.sweeps.sweep_end import EndedRuns
from slipway.using.sweeps.sweep_sender import SendingResult
from slipway.using.sweeps.sweep_submitter import SubmittedSweep
from tests.slipway.operating.doctor.picture import picture

from .values import BARE, CATALOG, CLUSTER, FULL, H100, IDLE, NOW, OFFERS, PLACE, POOL, SPOT, STACK, USAGE, WHOLE

RECORDED = Path(__file__).with_name("recorded")


def context() -> Context:
    here = Context(environ={"GOOGLE_OAUTH_ACCESS_TOKEN": "token"}, clock=Clock(now=lambda: NOW))
    here.__dict__["catalog"] = CATALOG
    return here


def events(job: VertexJob) -> JobEvents:
    lost = ("workerpool1-0", who_of("workerpool1-0", job), "2", "was preempted")
    runs = JobEvent("running", None, "", "", "", "Job is running")
    return JobEvents((JobEvent("preemption", NOW - timedelta(hours=1), *lost), runs))


def details(**fields: Any) -> Mapping[str, Any]:
    known = JobDetails(FULL, "quota is full", events(FULL), USAGE, None, (NextStep("look", "slipway jobs logs"),), SPOT)
    return {"job": _document(context(), replace(known, **fields))}


def pools() -> Mapping[str, Any]:
    living = ResourcePool("workers", H100, 2, 1, 1, 4)
    there = PersistentResource(f"{PLACE}/persistentResources/h100-1a2b3c4", "RUNNING", {}, (living,))
    booked = replace(POOL, price_per_hour=hourly(POOL.machine, "us-central1"))
    gone = replace(CATALOG, clusters={"h100": CLUSTER, "cpu": Cluster("cpu", (booked,), id="cpu-0000000")})
    priceless = replace(rows(CATALOG, [there], [], [])[0], per_machine=UNKNOWN, idle_since=NOW)
    listed = (*rows(gone, [there], [FULL], []), priceless)
    return {"pools": documents(pool_columns(NOW, several_regions=False), listed)}


def dates() -> Mapping[str, Any]:
    due = (
        Due("h100", "h100-1a2b3c4", "season-ends", "", NOW + timedelta(hours=3), per_hour=Price(Decimal("1.5"))),
        Due("cpu", "cpu-1", "retire", "two jobs", now=True, overdue=True, per_hour=UNKNOWN),
    )
    asleep = DormantCluster("h100", (), id="h100-1a2b3c4", season=Season(NOW + timedelta(days=2)))
    dormant = (asleep, replace(asleep, lacks=("gpus",)), replace(asleep, why="idle", since=NOW))
    return {
        **dates_document(due, dormant, NOW),
    }


def quotas() -> Mapping[str, Any]:
    line = QuotaRow("gpus", "us-central1", "cpu/workers", 8, 32, 16, None, "short", Increase.POSSIBLE, 8)
    asked = Requested("partly", 48, 32, "scarce")
    lines = (
        line,
        replace(line, now=None, drawn={"cpu/workers": 8}, increase=Increase.UNTOLD, requested=asked),
        replace(line, requested=Requested("new", 4)),
    )
    listed = (("e", Grade.BLOCKING), ("w", Grade.BLOCKING), ("w", Grade.WARNING))
    live = Live(clusters=(), jobs=(), limits=Unknown("403 denied", "quotas", "a role"), catalog=None)
    return quota(
        CATALOG,
        live,
        QuotaReport(
            lines, tuple(KINDS["quota-short-now"].of(Subject("quota"), words, grade=grade) for words, grade in listed)
        ),
    )


def sent() -> Mapping[str, Any]:
    pool, spot = (Candidate(offer, CUSTOM_JOB, lambda: Request("r1-1", "dev", "t", {})) for offer in OFFERS[:2])
    passed = JudgedCandidate(replace(spot, region="us-east4"), Verdict(Outcome.NEVER, "never", why=("no", "way")))
    choice = Choice(JudgedCandidate(pool, Verdict(Outcome.STARTS, "starts now")), (passed,))
    attempt = Attempt(BARE, True, (f"{PLACE}/customJobs/44",))
    made = SubmissionResult(Request("r1-1", "dev", "t", {}), attempt, choice, context())
    submissions = [submission(context(), candidate, BARE, "r1") for candidate in (made, replace(made, choice=None))]
    return {"submissions": submissions}


def sweeps() -> Mapping[str, Any]:
    price, times = Price(Decimal("2")), Times(60.0, 120.0, 5)
    forecast = Forecast(4, (Share(4, RunTotal(price, times, WEEK), False, None),), 3.0)
    result = SendingResult({Run(1): "j1", Run(0, 1): "j0"}, {Run(2): CloudError(Call("send"), "refused")}, [Run(3)])
    whole = SubmittedSweep("s1", 4, RemainingRuns((), {}, 1, 2, 3, 4, gone=(7,)), result, cast(Any, None), forecast)
    untimed = replace(forecast, shares=(Share(4, RunTotal(UNKNOWN, None, WEEK), True, 2),))
    return {
        "sweeps": [
            sweep(whole),
            sweep(replace(whole, forecast=None), (), EndedRuns({0: FULL}, (1,))),
        ],
        "forecast": forecast_document(untimed),
    }


def checks() -> Mapping[str, Any]:
    finding = FileMistake("stacks/Pulumi.dev.yaml", 3, "region", "is missing", "say it")
    bad = Checked("prod", "stacks/Pulumi.prod.yaml", None, (finding,), (replace(finding, line=4),))
    return _json([bad, Checked("dev", "stacks/Pulumi.dev.yaml", parse(from_text(STACK, "stacks/Pulumi.dev.yaml")), ())])


def reviews() -> Mapping[str, Any]:
    h100 = Subject("cluster", "h100")
    cancelled = KINDS["jobs-cancelled"].of(h100, "2 running jobs are cancelled", "wait", "they end", field="k", jobs=2)
    cancelled = replace(cancelled, details=("a", "b"), cost=1.5)
    before = Answer("submission", ("lora", "pool"), h100, values={"machines": 8, "account": None})
    after = replace(before, state=State.NO, text="maximum is 4")
    whole = Review(
        "dev",
        (cancelled, KINDS["access-gained"].of(Subject("member", "y"), "may submit", grade=Grade.WARNING)),
        (Setting(h100, "pools.workers.replicas.max", "8", "4"),),
        (Difference("submission", h100, (before.key,), before, after),),
        ("all of it",),
        Costs(idle_before=None, idle=3, most_before=1.5, most=3),
        "fits",
        "holds",
        ("s",),
        ("p",),
        ("n",),
        on_main=frozenset({("b", "2"), ("a", "1")}),
    )
    document = write_all([whole, Review("prod")])
    assert read_all(document["reviews"], "it") == (whole, Review("prod"))
    return document


CASES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "job": lambda: details(failure=Failure("chief", ("Traceback", "Oops"), None, "", "")),
    "job-without": lambda: details(
        job=BARE, events=JobEvents(why="403"), usage=Utilization(why="none"), next=None, why="", steps=()
    ),
    "job-memory": lambda: details(job=SPOT, events=events(SPOT), failure=Failure("", (), 0.93, "n1", "")),
    "job-idle": lambda: usage_document(USAGE, IDLE),
    "jobs": lambda: {"jobs": [describe(candidate, context()).document for candidate in (FULL, BARE, SPOT)]},
    "templates": lambda: {
        "catalog": {**catalog_document(selected()), "address": ""},
        "templates": documents(TEMPLATES, CATALOG.templates.values()),
    },
    "pools": pools,
    "schedule": dates,
    "quota": quotas,
    "quota-request": lambda: {"request": Requested("pending", None)},
    "doctor": lambda: doctor(
        replace(picture(), now=NOW, other_regions=("us-east4",), unseen=("x",)),
        (
            KINDS["unread"].of(Subject("jobs"), "can't", "ask", "then"),
            KINDS["unread-part"].of(Subject("p"), "s"),
        ),
    ),
    "drift": lambda: drift(
        "dev",
        Drifted(
            (
                drift_of(Subject("bucket", "b"), "", "gone", NextDeployment.MADE_ANEW),
                drift_of(Subject("b"), "f", "s", NextDeployment.STAYS, "undo"),
            ),
            ("x",),
        ),
    ),
    "download": lambda: download(
        FULL.name,
        Download("gs://w/out", Path("lora-1"), (stored("a"),), (stored("d/b"),), (LeftOut("out//", "no name"),)),
    ),
    "submission": sent,
    "sweep": sweeps,
    "check": checks,
    "reviews": reviews,
}


def stored(name: str) -> OutputFile:
    return OutputFile(StoredObject(Location("w", f"out/{name}"), 12, "1", "", None), PurePosixPath(name))


def selected() -> Context:
    here = context()
    here.__dict__["selected"] = cast(Any, type("Selected", (), {"location": "gs://dev/catalog.json"}))
    return here


@pytest.mark.parametrize("name", CASES)
def test_a_document_stays_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    screen.out_json(name, CASES[name]())
    stays(capsys.readouterr().out, name)


def test_a_catalog_stays_as_it_is() -> None:
    """A later version's is read by an earlier one, and the other way round."""
    written = catalog_text(WHOLE)
    stays(written, "catalog")
    assert read_catalog(written, "") == WHOLE


def stays(printed: str, name: str) -> None:
    file = RECORDED / f"{name}.json"
    if os.environ.get("SLIPWAY_RECORD") and not file.exists():
        file.write_text(printed, encoding="utf-8")
    assert printed == file.read_text(encoding="utf-8")
