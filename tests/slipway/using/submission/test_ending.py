"""Parameters as typed for a job are known from the parameters that it records, of shipped templates too, and nothing
else."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog, Team
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.cluster import Reservation
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.own_settings import OwnSettings
from slipway.model.prices import Price
from slipway.using.context import Context
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.ending import Cause, RecoveredSubmission, cause_of, error_of_end, next_steps, recover
from slipway.using.submission.fallback import got_no_machines
from slipway.using.submission.request import Request, RequestOverrides, fill

MACHINE = {"machineType": "n1-standard-4"}
ENDED = VertexJob("projects/p/locations/r/customJobs/1", "digits-1", "JOB_STATE_SUCCEEDED")


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


def posted(of: Catalog, offer: Offer, **values: Any) -> VertexJob:
    """The job that these values make, read as the service gives it back: whole numbers as texts."""
    body = fill(of, of.templates["digits"], offer, values, request_id="r1", user="ada")
    return VertexJob.read(json.loads(json.dumps(body), parse_int=str))


def sent(of: Catalog, **values: Any) -> RecoveredSubmission:
    recovered = recover(of, posted(of, of.templates["digits"].offers[0], **values))
    assert recovered
    return recovered


TREES = Parameter("trees", "int", 100, 1, 5000)
NOTE = Parameter("note", "str", "")


def test_what_is_the_default_needs_no_typing() -> None:
    outcome = sent(catalog(TREES, NOTE, args=["--trees=${trees}", "--note", "${note}"]), trees=100, note="x y")
    assert outcome.words() == ["-p", "note=x y"]
    assert outcome.words(trees=50) == ["-p", "trees=50", "-p", "note=x y"]


def test_what_somebody_typed_is_quoted_and_only_what_is_left_to_fill_in_is_not() -> None:
    evil = "see … ; touch pwned #"
    of = catalog(TREES, NOTE, args=["${trees}", "${note}"])
    job = posted(of, of.templates["digits"].offers[0], trees=7, note=evil)
    job = replace(job, labels={**job.labels, "slipway-code": "abc"}, state="JOB_STATE_FAILED")
    job = replace(job, error="Resources are insufficient in region", strategy="SPOT")
    context = SimpleNamespace(catalog=of, address="gs://b; echo …")
    commands = [step.command for step in next_steps(cast(Context, context), job, Cause.STOCK_OUT)]
    assert commands
    for command in commands:
        words = shlex.split(command, comments=True)
        assert f"note={evil}" in words and words[words.index("--code") + 1] == "…"
        assert ";" not in shlex.split(command, posix=False)
    now = catalog(TREES, NOTE, Parameter("path", "str"), args=[])
    again = recover(now, job)
    assert again and again.words() == ["-p", "trees=7", "-p", f"note={evil}", "-p", "path=…"]


def test_a_job_of_several_replicas_is_offered_with_as_many_and_with_half() -> None:  # N25
    of = catalog(args=[])
    asked = RequestOverrides(settings=OwnSettings(replicas=4))
    body = fill(
        of, of.templates["digits"], of.templates["digits"].offers[0], {}, request_id="r1", user="", overrides=asked
    )
    context = cast("Context", SimpleNamespace(catalog=of, address=None))
    steps = next_steps(context, VertexJob.read(body), Cause.STOCK_OUT)
    fewer = next(step for step in steps if step.what == "fewer machines: 4 → 2")
    assert fewer.command == "slipway submit digits --capacity spot --replicas 2"
    assert [step.command.count("--replicas") for step in steps] == [1] * len(steps)
    assert steps[-1].command.endswith("--replicas 4 --catalog gs://BUCKET")


@given(note=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40), trees=st.integers(1, 5000))
def test_any_text_comes_back_as_it_was(note: str, trees: int) -> None:
    outcome = sent(catalog(TREES, NOTE, args=["${note}", "--trees=${trees}"]), trees=trees, note=note)
    assert outcome.values == {"trees": trees, "note": note}


def test_a_variants_value_is_the_one_that_was_typed() -> None:
    size = Parameter("size", "str", "2b", choices=("2b", "9b", "27b"))
    assert sent(catalog(size, args=[], when={"size": ("27b",)}), size="27b").words() == ["-p", "size=27b"]
    assert sent(catalog(size, args=[], when={"size": ("9b", "27b")}), size="27b").words() == ["-p", "size=27b"]


def test_variants_with_the_same_machines_are_told_apart() -> None:
    size = Parameter("size", "str", "2b", choices=("2b", "27b"))
    fast = Parameter("fast", "bool", False)
    published = catalog(size, fast, args=["--size=${size}"], when={"size": ("27b",), "fast": (False,)})
    template, offer = published.templates["digits"], published.templates["digits"].offers[0]
    other = replace(offer, when={"size": ("2b",), "fast": (True,)})
    both = replace(published, templates={"digits": replace(template, offers=(offer, other))})
    recovered = recover(both, posted(both, other, size="2b", fast=True))
    assert recovered and recovered.offer is other and recovered.words() == ["-p", "fast=true"]


def test_a_value_that_the_template_takes_no_more_is_unknown_and_a_newer_parameter_at_its_default() -> None:
    old = catalog(TREES, args=["${trees}"])
    now = catalog(replace(TREES, max=8), NOTE, Parameter("path", "str"), args=[])
    recovered = recover(now, posted(old, old.templates["digits"].offers[0], trees=9))
    assert recovered and recovered.values == {"note": ""} and recovered.unknown == ("trees", "path")


def test_nothing_is_inferred_for_a_job_that_records_nothing() -> None:
    now = catalog(TREES, NOTE, args=["${trees}"])
    labels = {"slipway-template": "digits", "slipway-capacity-type": "spot"}
    task = {"args": ["100"], "env": [{"name": "SLIPWAY_PARAMETERS", "value": "no JSON"}]}
    for spec in ({"args": ["100"]}, task):
        job = VertexJob.read({"labels": labels, "jobSpec": {"workerPoolSpecs": [{"containerSpec": spec}]}})
        recovered = recover(now, job)
        assert job.parameters is None and recovered
        assert recovered.values == {} and recovered.words() == ["-p", "trees=…", "-p", "note=…"]


def test_a_job_of_no_template_or_by_an_offer_that_is_gone() -> None:
    now = catalog(TREES, args=[])
    gone: tuple[dict[str, str], ...] = (
        {"slipway-template": "other", "slipway-capacity-type": "spot"},
        {"slipway-template": "digits", "slipway-capacity-type": "pool"},
        {},
    )
    assert [recover(now, VertexJob.read({"labels": labels})) for labels in gone] == [None, None, None]


def test_the_way_on_counts_for_the_job_s_team_and_leads_to_no_cluster_of_another() -> None:  # N3
    """Without its `--team` the command was refused, or sent to nobody's account."""
    alone = catalog(TREES, args=["${trees}"])
    (spot,) = alone.templates["digits"].offers
    offers = (spot, *(replace(spot, capacity_type="pool", cluster=name) for name in ("eyes", "ears")))
    digits = {"digits": replace(alone.templates["digits"], offers=offers)}
    seeing, talking = "group:vision@acme.example", "group:language@acme.example"
    teams = {"vision": Team((seeing,), ("eyes",)), "language": Team((talking,), ("ears",))}
    of = replace(alone, templates=digits, submitters={"t": (seeing, talking)}, teams=teams)

    def ways(team: str) -> list[str]:
        body = fill(of, of.templates["digits"], spot, {"trees": 200}, request_id="r1", user="ada", team=team)
        context = cast("Context", SimpleNamespace(catalog=of, address=None))
        return [step.command for step in next_steps(context, VertexJob.read(body), Cause.STOCK_OUT)]

    (to_pool,) = [command for command in ways("vision") if "pool" in command]
    assert to_pool == "slipway submit digits -p trees=200 --capacity pool --team vision"
    assert not [command for command in ways("") if "pool" in command or "--team" in command]
    assert [command for command in ways("gone") if "--team" in command] == []


@pytest.mark.parametrize(
    ("state", "code"), [("FAILED", 4), ("EXPIRED", 4), ("PARTIALLY_SUCCEEDED", 4), ("CANCELLED", 8)]
)
def test_an_end_that_is_no_success_has_its_exit_code(state: str, code: int) -> None:
    problem = error_of_end(replace(ENDED, state=f"JOB_STATE_{state}", error="because"))
    assert problem is not None and problem.exit_code == code and problem.why == "because"
    assert error_of_end(ENDED) is None
    untold = error_of_end(replace(ENDED, state="JOB_STATE_FAILED"))
    assert untold is not None and "a minute" in untold.why, "it says when the reason comes"


@pytest.mark.parametrize(
    ("error", "stock_out"),
    [
        ("Resources are insufficient in region: r.", True),
        ("STOCKOUT: 1 × n1-standard-4 were not available", True),
        ("The replica workerpool0-0 exited with a non-zero status of 1.", False),
    ],
)
def test_who_reads_of_a_stock_out_is_moved_on_as_well(error: str, stock_out: bool) -> None:  # W1
    """`slipway jobs show` said that there were no machines, and a submission stayed with the job."""
    job = replace(ENDED, state="JOB_STATE_FAILED", strategy="SPOT", error=error)
    (offer,) = catalog(args=[]).templates["digits"].offers
    assert got_no_machines(job, Candidate(offer, CUSTOM_JOB, lambda: Request("r1", "dev", "digits", {}))) is stock_out
    assert (cause_of(job, {}) is Cause.STOCK_OUT) is stock_out


def test_a_job_whose_reservation_had_ended_before_it_began_lacks_no_machines_of_its_region() -> None:
    path, end = "projects/p/zones/z/reservations/week", datetime(2026, 11, 21, tzinfo=UTC)
    spec = {"machineSpec": {"reservationAffinity": {"values": [path]}}}
    job = VertexJob.read({"name": "p/1/l/r/customJobs/1", "jobSpec": {"workerPoolSpecs": [spec]}})
    job = replace(job, state="JOB_STATE_FAILED", error="STOCKOUT: …", end_time=end + timedelta(hours=1))
    assert cause_of(job, {path: Reservation(path, ends=end)}) is Cause.RESERVATION_ENDED
    assert cause_of(job, {path: Reservation(path, ends=end + timedelta(hours=2))}) is Cause.STOCK_OUT


@pytest.mark.parametrize(("ended", "over"), [(5, False), (6, True), (7, True)])
def test_who_lost_the_machines_of_a_reservation_is_told_so_and_not_sent_there_again(ended: int, over: bool) -> None:
    """A reservation of six hours was over, and the job was said to lack machines in its region."""  # N23
    path = "projects/p/zones/z/reservations/week"
    begun = datetime(2026, 11, 21, tzinfo=UTC)
    of = catalog(args=[])
    (own,) = of.templates["digits"].offers
    affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "values": [path]}
    machine = json.dumps({**MACHINE, "reservationAffinity": affinity})
    text = json.dumps(own.request).replace(json.dumps(MACHINE), machine)
    taken = replace(own, capacity_type="reservation", request=json.loads(text.replace('": "spot"', '": "reservation"')))
    template = replace(of.templates["digits"], offers=(taken, own))
    of = replace(of, templates={"digits": template})
    of = replace(of, reservations={path: Reservation(path, ends=begun + timedelta(hours=6))})
    job = replace(posted(of, taken), state="JOB_STATE_FAILED", error="Resources are insufficient in region: r.")
    job = replace(job, start_time=begun, end_time=begun + timedelta(hours=ended))
    cause = cause_of(job, of.reservations)
    assert cause is (Cause.RESERVATION_OVER if over else Cause.STOCK_OUT)
    context = SimpleNamespace(catalog=of, address="gs://b")
    commands = [step.command for step in next_steps(cast(Context, context), job, cause)]
    assert any("--capacity spot" in command for command in commands)
    assert any("--capacity reservation" in command for command in commands) is not over
