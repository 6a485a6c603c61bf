"""Sentences that were false of some combination of edits: what they say of it now, and what they must not. # N5"""

from typing import NamedTuple

import pytest
from slipway.reviewing.rules.quota import quota_in_words

from slipway.model.findings.finding import Grade
from slipway.model.prices import dollars
from tests.review.case import Case, Edit, Job, World, h100, imports, more, stack, template
from tests.review.edits import SEVERAL, WITH_BOTH
from tests.review.play import change_of, play

POLICY, WORKSPACE, CPU = "  slipway:policy:\n", "  slipway:workspace:\n", "    cpu:\n"
BOUGHT = "reservations/bought, machine: a3-highgpu-8g, machines: 2"
LEAVES_IT = (
    template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
    template("lora", '                    reservation="bought",\n', ""),
)
IN_DECEMBER = (stack("    h100:\n", "    h100:\n      from: 2026-12-20\n"),)
LARGE = "machines: { small: n1-standard-16 }"
A3 = '"a3-highgpu-8g",\n                    Disk("pd-ssd", 500)'
A3_POOLS = '(WorkerPool("tuner", "a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS),)'
MODEL_27B = Job("tune-27b-x1", parameters={"model": "27b"})


def budget(text: str) -> Edit:
    return stack(POLICY, f"  slipway:budget: {{ {text} }}\n{POLICY}")


def mandatory(rule: str) -> Edit:
    return stack("    mandatory:\n", f"    mandatory:\n      {rule}\n")


def cluster(name: str, machine: str, replicas: str) -> Edit:
    disk = "disk: { type: pd-ssd, sizeGb: 500 }"
    pool = f"        workers: {{ machine: {machine}, {disk}, replicas: {replicas} }}\n"
    return stack(CPU, f"    {name}:\n      pools:\n{pool}{CPU}")


def vision(has: str) -> str:
    return f"  slipway:teams: {{ vision: {{ submitters: [group:vision@acme.example], {has} }} }}\n"


def h100_limit(gpus: int, *jobs: Job, earlier: tuple[Edit, ...] = ()) -> World:
    return World(jobs=jobs, limits={"nvidia_h100_gpus": gpus}, earlier=earlier)


class Told(NamedTuple):
    says: str
    edits: tuple[Edit, ...]
    kind: str
    grade: Grade | None
    words: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    given: tuple[Edit, ...] = ()
    world: World = World()


CASES = (
    Told(
        "an idle limit is shorter beside a reservation that ends",
        (stack("idleLimit: 2d", "idleLimit: 1d"),),
        "season-changed",
        Grade.WARNING,
        ("jobs of `lora` (model=27b) have the reservation and Spot left",),
        given=(stack(BOUGHT, f"{BOUGHT}, until: 2026-12-10"), h100("idleLimit: 2d")),
        world=World(jobs=(MODEL_27B,)),
    ),
    Told(
        "a run gets dearer than what is sent without a confirmation",
        (template("evals", "n1-standard-8", "n1-standard-16"),),
        "run-cost",
        Grade.WARNING,
        ("above $0.30/h submissions need a confirmation",),
        given=(stack(WORKSPACE, f"{WORKSPACE}    confirmAbove: 0.3\n"),),
    ),
    Told(
        "a reservation that ends by itself is left",
        LEAVES_IT,
        "reservation-paid",
        Grade.BLOCKING,
        ("it stays paid",),
        given=(stack(BOUGHT, f"{BOUGHT}, until: 2026-12-10"),),
    ),
    Told(
        "a reservation that has ended is left",
        LEAVES_IT,
        "reservation-paid",
        None,
        given=(stack(BOUGHT, f"{BOUGHT}, until: 2026-11-10"),),
    ),
    Told(
        "a reservation has no dates any more",
        (stack(", until: 2026-12-10", ""),),
        "reservation-dates",
        Grade.NOTE,
        ("is listed at any time",),
        ("at other times",),
        (stack(BOUGHT, f"{BOUGHT}, until: 2026-12-10"),),
    ),
    Told(
        "a limit of nothing refuses now",
        (stack("enforce: false", "enforce: true"),),
        "budget-changed",
        Grade.BLOCKING,
        ("Submissions beyond team ml's $0 a month are refused",),
        ("next month",),
        (budget("teams: { ml: 0 }, enforce: false"),),
    ),
    Told(
        "a new limit is not the one that refused",
        (stack("stack: 500000, enforce: true", "teams: { ml: 5 }, enforce: false"),),
        "budget-changed",
        Grade.BLOCKING,
        ("nobody is refused any more",),
        ("are sent all the same", "stay"),
        (budget("stack: 500000, enforce: true"),),
    ),
    Told(
        "a strict check where `mode: warn` refuses nothing",
        (stack("mode: warn,", "mode: warn, strict: true,"),),
        "quota-check-stricter",
        None,
        given=(stack("mode: enforce", "mode: warn"),),
    ),
    Told(
        "another name makes another cluster beside the one that goes",
        (stack("    h100:\n", "    big:\n"),),
        "quota-short-in-overlap",
        Grade.BLOCKING,
        ("beside an old one",),
        ("in-place",),
        world=h100_limit(24, MODEL_27B),
    ),
    Told(
        "an earlier generation of another cluster holds the quota",
        (cluster("more", "a3-highgpu-8g", "2"),),
        "quota-short-in-overlap",
        Grade.BLOCKING,
        ("beside an old one",),
        ("in-place",),
        world=h100_limit(
            48,
            Job("old", parameters={"model": "27b"}, earlier=True),
            earlier=(stack("replicas: { min: 2, max: 4 }", "replicas: { min: 3, max: 4 }"),),
        ),
    ),
    Told(
        "quota is too small for a new cluster that the old one makes room for",
        (
            stack("replacement: rollover", "replacement: in-place"),
            stack("replicas: { min: 2, max: 4 }", "replicas: { min: 3, max: 4 }"),
        ),
        "quota-short-now",
        Grade.BLOCKING,
        ("is short by 8 for what is made",),
        world=h100_limit(16, MODEL_27B),
    ),
    Told(
        "of two quotas of a pool one can't be raised",
        (stack("min: 2, max: 4", "min: 2, max: 6"),),
        "quota-short-at-most",
        Grade.WARNING,
        ("can't be raised",),
        world=World(
            limits={"nvidia_h100_gpus": 32, "a3_cpus": 832},
            increase={"a3_cpus": "no increase: Google has fixed it, so it can't be raised"},
        ),
    ),
    Told(
        "a coming season lacks as much at most, and no longer at once",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 1, max: 4 }"),),
        "quota-short-at-most",
        None,
        given=IN_DECEMBER,
        world=h100_limit(8),
    ),
    Told(
        "a template takes a reservation that is new, and too small for its largest jobs",
        (
            template("digits", '"${workers}"', '"${workers}", reservation="small"'),
            template("digits", '("pool", ', '("reservation", "pool", '),
            stack(
                BOUGHT,
                "reservations/bought, machine: a3-highgpu-8g, machines: 2 }\n    small: { path: "
                "projects/acme-ml/zones/us-central1-a/reservations/small, machine: n1-standard-8, machines: 8",
            ),
        ),
        "offer-gone",
        None,
    ),
    Told(
        "one of two runs that grow has quota still",
        (template("digits", "default=4", "default=6"), template("evals", "n1-standard-8", "n1-standard-16")),
        "quota-short-at-most",
        Grade.WARNING,
        ("A usual run by `digits spot` can't start",),
        ("`evals spot`",),
        (template("lora", '("pool", "reservation", "spot")', '("pool", "reservation")'),),
        World(limits={"preemptible_cpus": 40}),
    ),
    Told(
        "no single pool is to blame",
        (
            cluster("more", "a3-highgpu-8g", "{ min: 1, max: 3 }"),
            cluster("most", "a3-highgpu-8g", "{ min: 1, max: 3 }"),
        ),
        "quota-short-at-most",
        Grade.WARNING,
        ("can't all grow to their maximum",),
        ("one maximum",),
        world=h100_limit(32),
    ),
    Told(
        "fewer machines are allowed, by other patterns",
        (stack('machines: ["*"]', 'machines: ["n1-*", "a*"]'),),
        "policy-added",
        Grade.NOTE,
        ("is stricter: n1-*, a*",),
        given=(mandatory('machines: ["*"]'),),
    ),
    Told(
        "fewer labels are asked for",
        (stack("labels: [team, cost-center]\n    adv", "labels: [team]\n    adv"),),
        "policy-weaker",
        Grade.BLOCKING,
        ("becomes team, where it was team, cost-center",),
        ("allows",),
        (stack("    advisory:\n", "      labels: [team, cost-center]\n    advisory:\n"),),
    ),
    Told(
        "of a rule that stands twice one stays and warns",
        (stack("      idleCost: 210\n", ""),),
        "policy-weaker",
        Grade.BLOCKING,
        ("`mandatory.idleCost` is dropped",),
        ("only warns", "put it under"),
        (mandatory("idleCost: 210"), stack("    advisory:\n", "    advisory:\n      idleCost: 150\n")),
    ),
    Told(
        "a rule refuses from a higher value on than it warned of",
        (mandatory("longestTimeout: 100"), stack("    advisory:\n      longestTimeout: 48\n", "")),
        "policy-added",
        Grade.NOTE,
        ("`mandatory.longestTimeout` is new: 100",),
        ("what it only warned of",),
    ),
    Told(
        "the capacity types of a later shape are turned",
        (template("lora", SEVERAL, SEVERAL.replace('"spot", "on-demand"', '"on-demand", "spot"')),),
        "offer-order",
        Grade.WARNING,
        ("try machines on demand with `g2-standard-24` before Spot with `g2-standard-24`",),
        given=WITH_BOTH,
    ),
    Told(
        "machines of one case go to no shape in place of one that others have",
        (template("lora", A3, A3.replace("a3-highgpu-8g", "a2-highgpu-4g")),),
        "offer-unavailable",
        Grade.BLOCKING,
        ("can't use pool `h100`",),
        ("whose place",),
        (imports("lora", "Shape"), more("lora", f'shapes=(Shape({A3_POOLS}, ("pool", "spot")),)')),
    ),
    Told(
        "another name takes a cluster to a team that has it alone",
        (stack("    h100:\n", "    big:\n"), stack(POLICY, f"{vision('clusters: [big]')}{POLICY}")),
        "offer-gone",
        Grade.WARNING,
        ("can use pool `big` (team `vision` alone) instead of `h100`",),
    ),
    Told(
        "a new default chooses machines that get another capacity type",
        (
            template("lora", 'default="9b"', 'default="27b"'),
            template("lora", '("pool", "reservation", "spot")', '("pool", "reservation", "spot", "flex-start")'),
        ),
        "default-changed",
        Grade.WARNING,
        ("a default run takes `a3-highgpu-8g`",),
        ("flex-start`",),
    ),
    Told(
        "a team goes whose label and machines a template has",
        (stack(vision(LARGE), ""),),
        "machines-changed",
        Grade.WARNING,
        ("Jobs of `evals` ask for `n1-standard-8` instead of `n1-standard-16`",),
        given=(
            stack("  slipway:quota", "  slipway:machines: { small: n1-standard-8 }\n  slipway:quota"),
            stack(POLICY, f"{vision(LARGE)}{POLICY}"),
            template("evals", '"n1-standard-8"', '"small"'),
            more("evals", 'labels={"team": "vision"}'),
        ),
    ),
)


@pytest.mark.parametrize("told", CASES, ids=lambda told: told.says)
def test_a_sentence_is_true_of_this_combination(told: Told) -> None:
    review = play(Case(told.says, told.edits, given=told.given, world=told.world))
    parts = [part for part in review.consequences if part.kind == told.kind]
    assert max((part.grade for part in parts), default=None) == told.grade
    text = " ".join(f"{part.sentence}; {part.instead}" for part in parts)
    assert [word for word in told.words if word not in text] == []
    assert [word for word in told.never if word in text] == []


def test_sums_of_a_month_in_one_comment_are_the_same() -> None:
    """Rounded by themselves, the sums of the stack without the cluster and with it differ by a dollar more or less."""
    review = play(Case("a cluster is added", (cluster("more", "n1-standard-32", "2"),)))
    costs = {part.kind: part.sentence for part in review.consequences}
    month = costs["cluster-created"].rpartition(", ")[2]
    assert f"costs {month} more with nothing running" in costs["idle-cost"]


def test_the_amounts_beside_a_rise_have_seasons_to_come_as_the_table_has() -> None:
    later = stack(CPU, f"{CPU}      from: 2026-12-20\n")
    review = play(Case("a maximum is raised", (stack("min: 2, max: 4", "min: 2, max: 6"),), given=(later,)))
    (rise,) = (part for part in review.consequences if part.kind == "most-cost")
    most = review.money and review.money.most
    assert most and [(edit.before, edit.after) for edit in rise.edits] == [(dollars(most.before), dollars(most.after))]


@pytest.mark.parametrize(
    ("replicas", "stands"),
    [
        ("{ min: 1, max: 4 }", "ok now, short in a season if pools grow"),
        ("{ min: 2, max: 5 }", "ok now, short in a season"),
        ("{ max: 4, min: 2 }", "ok now, short in a season"),
    ],
)
def test_how_the_quota_of_a_season_stands(replicas: str, stands: str) -> None:
    edit = stack("{ min: 2, max: 4 }", replicas)
    assert quota_in_words(change_of(Case(replicas, (edit,), given=IN_DECEMBER, world=h100_limit(8)))) == stands
