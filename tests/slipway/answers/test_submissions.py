"""Submissions that a change rejects, alters or accepts, by what the product says about them."""

from dataclasses import replace
from typing import Any

from slipway.answers import submission_findings, submissions
from slipway.answers.answer import differences
from slipway.answers.comparison import Side
from slipway.google.jobs import VertexJob
from slipway.model.agents import AgentAllowance
from slipway.model.catalog.model import SessionLimits, Team
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import AGENT_LABEL, CAPACITY_TYPE_LABEL, SESSION_LABEL, VARIABLE, recorded
from tests.builders.pools import HEAD
from tests.slipway.reviewing import builders
from tests.slipway.reviewing.builders import CPU, H100, UNREAD, cluster, facts, job, offer, pool, template, worker_pool

BOTH = template("lora", offer(), offer("spot"))
WORKERS = Parameter("workers", "int", 2, min=1, max=16)
RANK = Parameter("rank", "int", 8, min=1, max=64)


def found(before: Facts | None, after: Facts | None, **world: Any) -> dict[str, Finding]:
    """Return the findings by kind and, of another template than lora, its name."""
    comparison = builders.change(before, after, **world).comparison
    sides = [submissions.answers(comparison, side) for side in Side]
    listed = submission_findings.findings(comparison, differences(*sides))
    return {f"{each.kind} {each.subject.name}".removesuffix(" lora"): each for each in listed}


def jobs(**fields: Any) -> tuple[VertexJob, ...]:
    """Return three submissions by two users."""
    users = ("ada", "ben", "ada")
    return tuple(job(f"j{place}", user=user, state="SUCCEEDED", **fields) for place, user in enumerate(users))


def on_spot(*some: VertexJob) -> tuple[VertexJob, ...]:
    labels = {CAPACITY_TYPE_LABEL: "spot"}
    return tuple(replace(each, labels={**each.labels, **labels}, strategy="SPOT") for each in some)


def with_workers(count: int | str, *parameters: Parameter, **fields: Any) -> Template:
    """Return a template of a head and workers on a pool."""
    machines = (worker_pool(HEAD), worker_pool(CPU, count))
    on_pool = offer(pools=("head", "workers"), roles=("head", "worker"), request=builders.request(*machines, **fields))
    return template("lora", on_pool, parameters=parameters)


def with_most(most: int) -> Any:
    return cluster("cpu", pool("head", HEAD), pool("workers", CPU, high=most))


def of(one: Offer, **spec: Any) -> Facts:
    body = {**one.request["jobSpec"], **spec}
    return facts(template("lora", replace(one, request={**one.request, "jobSpec": body})))


def test_an_equal_stack_asks_nothing() -> None:
    same = template("lora", offer(), offer("spot"))
    comparison = builders.change(facts(BOTH), facts(same), recent=jobs()).comparison
    assert not list(submissions.answers(comparison, Side.BEFORE))
    assert not found(facts(BOTH), facts(same))


def test_a_removed_template_that_is_used_blocks() -> None:
    told = found(facts(BOTH), facts(), recent=jobs(on="cpu-1"))["submission-rejected"]
    assert told.grade is Grade.BLOCKING
    assert told.sentence == (
        "is removed: `slipway submit lora` is rejected; 3 submissions by ada and ben in the last 30 days"
    )
    assert (told.facts["submissions"], told.facts["users"]) == (3, ("ada", "ben"))


def test_a_removed_template_that_nobody_uses_warns() -> None:
    told = found(facts(BOTH), facts())["submission-rejected"]
    assert told.grade is Grade.WARNING
    assert "submissions by" not in told.sentence


def test_unread_submissions_are_unknown() -> None:
    told = found(facts(BOTH), facts(), recent=UNREAD)["submission-rejected"]
    assert told.sentence.endswith("use in the last 30 days is unknown")


def test_a_renamed_template_rejects_its_old_name() -> None:
    old = replace(with_workers("${workers}", WORKERS), summary="trains")
    new = replace(with_workers("${workers}", WORKERS, template="tune"), name="tune", summary="trains")
    told = found(facts(with_most(16), old), facts(with_most(16), new), recent=jobs(on="cpu-1"))
    assert list(told) == ["submission-rejected"]
    assert told["submission-rejected"].sentence.startswith("is renamed to `tune`: `slipway submit lora` is rejected; 3")


def test_a_lost_capacity_type_warns_unless_somebody_named_it() -> None:
    old, new = facts(BOTH), facts(template("lora", offer()))
    unused = found(old, new, recent=jobs(on="cpu-1"))
    assert list(unused) == ["submission-rejected"]
    assert unused["submission-rejected"].grade is Grade.WARNING
    used = found(old, new, recent=on_spot(*jobs()))["submission-rejected"]
    assert used.grade is Grade.BLOCKING
    assert used.sentence.startswith("rejects `--capacity spot`: lora has no capacity type 'spot'")


def test_an_offer_without_quota_is_told_once() -> None:
    short = template("lora", offer(), offer("spot", available=False, lacks_quota=True))
    told = found(facts(BOTH), facts(short))
    assert list(told) == ["offer-unavailable"]
    assert "quota is too low for 1 × n1-standard-8" in told["offer-unavailable"].sentence
    assert told["offer-unavailable"].fix.startswith("slipway quota --request")


def test_a_pool_that_becomes_too_small_leaves_nothing() -> None:
    needs = with_workers(8)
    told = found(facts(with_most(8), needs), facts(with_most(4), needs), recent=jobs(on="cpu-1"))
    assert list(told) == ["no-offer-left"]
    sentence = told["no-offer-left"].sentence
    assert sentence.startswith(
        "can no longer run: cpu/workers: needs 8 machines, the pool's maximum is 4; 3 submissions"
    )


def test_only_the_large_submissions_of_a_smaller_pool_are_rejected() -> None:
    sized = with_workers("${workers}", WORKERS)
    large = jobs(on="cpu-1", env={VARIABLE: recorded({"workers": 8})})
    told = found(facts(with_most(16), sized), facts(with_most(4), sized), recent=large)
    assert told["submission-rejected"].grade is Grade.BLOCKING
    assert told["submission-rejected"].sentence.startswith("rejects `-p workers=8` and 1 more: cpu/workers: needs 8")
    unused = found(facts(with_most(16), sized), facts(with_most(4), sized))
    assert unused["submission-rejected"].grade is Grade.WARNING


def test_a_narrower_parameter_rejects_values_in_use() -> None:
    narrow = replace(WORKERS, max=4)
    old, new = (facts(with_most(16), with_workers("${workers}", each, RANK)) for each in (WORKERS, narrow))
    swept = jobs(on="cpu-1", env={VARIABLE: recorded({"workers": 8, "rank": 8})})
    told = found(old, new, recent=swept)["submission-rejected"]
    assert told.grade is Grade.BLOCKING
    assert "workers=8 is out of bounds: 1 to 4" in told.sentence


def test_values_that_decide_nothing_are_one_submission() -> None:
    old, new = (facts(with_most(most), with_workers("${workers}", WORKERS, RANK)) for most in (16, 8))
    swept = tuple(
        job(f"s{rank}", state="SUCCEEDED", on="cpu-1", env={VARIABLE: recorded({"workers": 2, "rank": rank})})
        for rank in range(1, 60)
    )
    comparison = builders.change(old, new, recent=swept).comparison
    assert len(list(submissions.answers(comparison, Side.AFTER))) < 8


def test_changed_machines_and_account_are_told_as_before_and_after() -> None:
    larger = found(facts(template("lora", offer("spot"))), facts(template("lora", offer("spot", machine=H100))))
    sentence = larger["submission-changed"].sentence
    assert "need 1 × a3-highgpu-8g, not 1 × n1-standard-8" in sentence
    assert "cost $63.92/h, not $0.22/h" in larger["submission-changed"].details
    told = found(of(offer()), of(offer(), serviceAccount="other@acme.example"))["submission-changed"]
    assert "run as `other@acme.example`, not" in told.sentence


def test_a_shorter_time_limit_warns_and_a_longer_one_does_not() -> None:
    short, long = (of(offer(), scheduling={"timeout": f"{hours * 3600}s"}) for hours in (1, 24))
    assert found(long, short)["submission-changed"].grade is Grade.WARNING
    assert found(short, long)["submission-changed"].grade is Grade.NOTE
    assert found(long, short)["submission-changed"].sentence == "all submissions: end after 1 h, not 24 h"


def test_a_cluster_of_one_team_is_lost_to_the_others() -> None:
    people = ("group:a@acme.example", "group:b@acme.example")
    teams = {"a": Team(people[:1]), "b": Team(people[1:])}
    owned = {**teams, "a": Team(people[:1], ("cpu",))}
    only = template("lora", offer())
    told = found(facts(only, members=people, teams=teams), facts(only, members=people, teams=owned))
    assert "`--team b`" in " ".join(told["no-offer-left"].details)
    assert "`--team a`" not in " ".join(told["no-offer-left"].details)


def test_agents_and_sessions_are_asked_about_if_they_are_used() -> None:
    spot = template("lora", offer("spot"))
    by_agent = tuple(replace(each, labels={**each.labels, AGENT_LABEL: "bot"}) for each in on_spot(*jobs()))
    allowance: dict[str, Any] = {"confirm_above": 0.1, "agents": AgentAllowance(100.0)}
    told = found(facts(spot, **allowance), facts(spot, confirm_above=0.1, agents=None), recent=by_agent)
    assert "by an agent" in told["submission-rejected"].sentence
    sessions = tuple(replace(each, labels={**each.labels, SESSION_LABEL: "s"}) for each in jobs(on="cpu-1"))
    elsewhere = facts(template("lora", offer()), sessions=SessionLimits(pools=("gpu/workers",)))
    told = found(facts(template("lora", offer())), elsewhere, recent=sessions)
    assert "sessions can run on gpu/workers only" in told["submission-rejected"].sentence


def test_a_first_deployment_tells_only_templates_that_cannot_run() -> None:
    nowhere = template("bad", offer(machine=H100, available=False, cluster="", pools=()))
    assert list(found(None, facts(BOTH, nowhere))) == ["no-offer-left bad"]
    assert list(found(facts(BOTH), facts(BOTH, template("new", offer())))) == ["submission-accepted new"]


def test_spot_machines_of_default_submissions() -> None:
    (need,) = submissions.spot_needs(facts(BOTH, template("other", offer())).catalog)
    assert (need.type, need.machines) == ("n1-standard-8", 1)
