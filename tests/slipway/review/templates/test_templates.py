"""What a change of a template does to those who submit it: every difference is named, and no order alone is one.
# N3 # N8 # D3"""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.model import Parameter, Template
from slipway.findings.finding import Grade
from slipway.kinds import CUSTOM_JOB, PIPELINE
from slipway.review.change import Files
from slipway.review.templates.templates import templates
from tests.slipway.review.builders import (
    CATALOG_BUCKET,
    H100,
    UNREAD,
    WORK_BUCKET,
    change,
    facts,
    offer,
    request,
    template,
    worker_pool,
)
from tests.slipway.review.templates.lora import (
    LORA,
    PLAIN,
    POOL,
    SIZE,
    SPOT,
    TREES,
    asking,
    found,
    only,
    submitted,
    with_parameters,
)

RUN = Parameter("run", "str", "python train.py")

BEFORE, WARNING, BLOCKING = Grade.NOTE, Grade.WARNING, Grade.BLOCKING


CASES: tuple[tuple[str, Template | None, Template | None, str, Grade, str], ...] = (
    ("one more", None, LORA, "template-added", BEFORE, "Submitters may run `lora`"),
    ("one less", LORA, None, "template-gone", WARNING, "Submissions of `lora` are refused: "),
    (
        "a parameter is gone",
        LORA,
        with_parameters(SIZE),
        "parameter-gone",
        WARNING,
        "Submissions of `lora` that set `trees` are refused: ",
    ),
    (
        "a parameter has another name",
        LORA,
        with_parameters(replace(TREES, name="count"), SIZE),
        "parameter-renamed",
        WARNING,
        "Submissions of `lora` that set `trees` are refused: it is called `count` from now on",
    ),
    (
        "a parameter more",
        LORA,
        with_parameters(TREES, SIZE, Parameter("seed", "int", 0)),
        "parameter-added",
        BEFORE,
        "Submissions of `lora` may set `seed`, which is `0` otherwise",
    ),
    (
        "a parameter more that must be given",
        LORA,
        with_parameters(TREES, SIZE, Parameter("data", "str")),
        "parameter-required",
        WARNING,
        "Submissions of `lora` without `data` are refused: it is new and has no default",
    ),
    (
        "no default any more",
        LORA,
        with_parameters(replace(TREES, default=None), SIZE),
        "parameter-required",
        WARNING,
        "it has no default any more, which was `100`",
    ),
    (
        "another default",
        LORA,
        with_parameters(replace(TREES, default=500), SIZE),
        "default-changed",
        WARNING,
        "Submissions of `lora` without `trees` get `500` instead of `100`",
    ),
    (
        "another type",
        LORA,
        with_parameters(replace(TREES, type="float"), SIZE),
        "parameter-type",
        WARNING,
        "Submissions of `lora` that give `trees` as int are refused: it takes float",
    ),
    (
        "a lower maximum",
        LORA,
        with_parameters(replace(TREES, max=500), SIZE),
        "bounds-narrowed",
        WARNING,
        "with `trees` above 500 (it was 1000) are refused",
    ),
    (
        "a higher maximum",
        LORA,
        with_parameters(replace(TREES, max=None), SIZE),
        "bounds-widened",
        BEFORE,
        "may have `trees` of any size",
    ),
    (
        "a choice less",
        LORA,
        with_parameters(TREES, replace(SIZE, choices=("2b", "9b"))),
        "bounds-narrowed",
        WARNING,
        "with `size` `27b` are refused",
    ),
    (
        "a text that becomes a command",
        with_parameters(TREES, RUN),
        with_parameters(TREES, replace(RUN, command=True)),
        "bounds-narrowed",
        WARNING,
        "with `run` that needs a shell, as with `&&`, are refused",
    ),
    (
        "a command that becomes a text",
        with_parameters(TREES, replace(RUN, command=True)),
        with_parameters(TREES, RUN),
        "bounds-narrowed",
        WARNING,
        "with `run` that names a parameter, as `{lr}`, are refused",
    ),
    (
        "an offer less",
        LORA,
        replace(LORA, offers=(POOL,)),
        "offer-gone",
        WARNING,
        "Jobs of `lora` can't use Spot any more",
    ),
    ("an offer more", replace(LORA, offers=(POOL,)), LORA, "offer-added", BEFORE, "Jobs of `lora` can use Spot"),
    (
        "an offer before others",
        replace(LORA, offers=(SPOT,)),
        LORA,
        "offer-added",
        WARNING,
        "Jobs of `lora` try pool `cpu` before Spot",
    ),
    (
        "another order",
        LORA,
        replace(LORA, offers=(SPOT, POOL)),
        "offer-order",
        WARNING,
        "Jobs of `lora` try Spot before pool `cpu`: ",
    ),
    (
        "an offer that can't be taken",
        LORA,
        replace(LORA, offers=(POOL, replace(SPOT, available=False, why="short by 7"))),
        "offer-unavailable",
        BLOCKING,
        "Jobs of `lora` can't use Spot any more: short by 7",
    ),
    (
        "another wait",
        LORA,
        replace(LORA, offers=(replace(POOL, wait=600.0), SPOT)),
        "fallback-wait",
        WARNING,
        "wait 10 min for pool `cpu` instead of for ever: then they cost $0.22/h on Spot",
    ),
    ("an image", asking(image="a:1"), asking(image="a:2"), "image-changed", WARNING, "run in `a:2` instead of `a:1`"),
    (
        "an environment variable",
        asking(env={"LEVEL": "1"}),
        asking(env={"LEVEL": "2"}),
        "environment-changed",
        WARNING,
        "run with `LEVEL` = `2` instead of `1`",
    ),
    (
        "a secret",
        asking(env={"HF__SECRET": "projects/p/secrets/a/versions/1"}),
        asking(env={"HF__SECRET": "projects/p/secrets/a/versions/2"}),
        "secrets-changed",
        WARNING,
        "read version `2` of secret `a` instead of `1`: nobody looked",
    ),
    (
        "an argument",
        asking(args=("--a=1", "--b=1")),
        asking(args=("--a=1", "--b=2")),
        "arguments-changed",
        WARNING,
        "are started with `--b=2` instead of `--b=1`",
    ),
    (
        "the order of arguments",
        asking(args=("a", "b")),
        asking(args=("b", "a")),
        "arguments-changed",
        WARNING,
        "get their arguments in another order",
    ),
    (
        "machines",
        PLAIN,
        asking(machine=H100),
        "machines-changed",
        WARNING,
        "run on `a3-highgpu-8g` instead of `n1-standard-8`: 8 H100 GPUs instead of no GPU",
    ),
    ("replicas", PLAIN, asking(replicas=3), "machines-changed", WARNING, "take 3 `n1-standard-8` instead of 1"),
    (
        "a timeout",
        replace(PLAIN, offers=PLAIN.offers[:1]),
        replace(PLAIN, offers=asking(spec={"scheduling": {"timeout": "3600s"}}).offers[:1]),
        "timeout-changed",
        BLOCKING,
        "are ended after 1 h instead of 24 h: ",
    ),
    (
        "an account",
        PLAIN,
        asking(spec={"serviceAccount": "a@b.c"}),
        "account-changed",
        BLOCKING,
        "run as account `a` instead of `trainer`: nobody looked",
    ),
    (
        "a network",
        PLAIN,
        asking(spec={"network": "n"}),
        "network-changed",
        WARNING,
        "run in network `n`: nobody looked",
    ),
    (
        "web access",
        PLAIN,
        asking(spec={"enableWebAccess": True}),
        "web-access-changed",
        BLOCKING,
        "open a shell to whoever may see them",
    ),
    (
        "what nobody has heard of",
        PLAIN,
        asking(spec={"x": {"y": 1}}),
        "request-changed",
        BEFORE,
        "are asked for with `spec/x/y` `1`",
    ),
    (
        "code",
        LORA,
        replace(LORA, package="gs://acme-catalog/packages/lora-2.tar.gz"),
        "code-changed",
        WARNING,
        "Jobs of `lora` run other code",
    ),
    (
        "requirements",
        LORA,
        replace(LORA, requirements=("torch==2.5",)),
        "requirements-changed",
        WARNING,
        "Jobs of `lora` install `torch==2.5` instead of `torch==2.4`",
    ),
    ("--code", LORA, replace(LORA, code_flag=True), "code-allowed", BLOCKING, "code that nobody reviewed"),
    (
        "a kind less",
        replace(LORA, kinds=(CUSTOM_JOB.name, PIPELINE.name)),
        LORA,
        "kind-gone",
        WARNING,
        "training pipeline",
    ),
    (
        "no checkpoints",
        replace(LORA, checkpoints=True),
        LORA,
        "request-changed",
        WARNING,
        "don't go on from a checkpoint",
    ),
)


@pytest.mark.parametrize(
    ("old", "new", "kind", "grade", "words"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_each_change_is_named_once(
    old: Template | None, new: Template | None, kind: str, grade: Grade, words: str
) -> None:
    one = only(old, new)
    assert (one.kind, one.grade) == (kind, grade)
    assert words in one.sentence


def test_who_used_what_is_gone_is_told_and_makes_it_worse(snapshot: SnapshotAssertion) -> None:
    recent = (submitted("ada", "a", trees=7), submitted("ada", "b", trees=8), submitted("ci", trees=100))
    one = only(LORA, with_parameters(SIZE), recent=recent)
    assert one.grade is BLOCKING
    assert one.details == snapshot


def test_nobody_is_said_to_have_used_it_where_nobody_can_tell(snapshot: SnapshotAssertion) -> None:
    one = only(LORA, None, recent=UNREAD)
    assert one.grade is BLOCKING
    assert one.details == snapshot


def test_values_that_are_refused_now_are_named() -> None:
    one = only(LORA, with_parameters(replace(TREES, max=500), SIZE), recent=(submitted("ada", trees=900),))
    assert one.grade is BLOCKING
    assert one.details[0] == "refused now, used lately: `900`"


def test_a_template_without_an_offer_that_can_run_is_blocking() -> None:
    none = replace(LORA, offers=tuple(replace(one, available=False, why="no quota") for one in LORA.offers))
    one = next(one for one in found(LORA, none) if one.kind == "no-offer-left")
    assert one.grade is BLOCKING
    assert one.details[:2] == ("`pool cpu`: no quota", "`spot`: no quota")


def test_a_template_can_be_submitted_when_its_defaults_can(snapshot: SnapshotAssertion) -> None:  # N6
    """`gemma2-lora` *can be submitted*, while no type takes its defaults."""
    model = Parameter("model", "str", "2b", choices=("2b", "27b"))
    small, large = (replace(SPOT, when={"model": (one,)}) for one in ("2b", "27b"))
    short = replace(small, available=False, lacks_quota=True, why="quota: short by 1")
    fine, dead = (replace(LORA, parameters=(model,), offers=some) for some in ((small, large), (short, large)))
    assert only(None, fine).sentence == "Submitters may run `lora`"
    new = {one.kind: one for one in found(None, dead)}
    assert new["template-added"].sentence == "Submitters see `lora`"
    left = new["no-offer-left"]
    assert left.sentence == snapshot
    assert left.grade is BLOCKING
    assert left.details == snapshot
    assert "no-offer-left" in {one.kind for one in found(fine, dead)}
    assert "no-offer-left" not in {one.kind for one in found(dead, dead)}


def test_what_differs_in_one_offer_names_it(snapshot: SnapshotAssertion) -> None:
    other = replace(POOL, request=request(worker_pool(env={"A": "1"})))
    one = only(LORA, replace(LORA, offers=(other, SPOT)))
    assert one.sentence == snapshot


def test_files_of_its_code_are_named() -> None:
    args = ("--module", "lora.task", "--")
    old, new = asking(args=args), replace(asking(args=args), package="gs://acme-catalog/packages/lora-2.tar.gz")
    one = only(old, new, files=Files(frozenset({"jobs/lora/task.py", "jobs/other/task.py", "README.md"})))
    assert one.details == ("`jobs/lora/task.py`",)


def test_a_bucket_and_a_trainer_that_move_are_not_told_of_each_template() -> None:
    claims = asking(args=(f"gs://{WORK_BUCKET}/claims/x", f"gs://{CATALOG_BUCKET}/y"))
    moved = asking(args=("gs://new-work/claims/x", "gs://new-catalog/y"), spec={"serviceAccount": "new@p.iam"})
    after = facts(moved, work_bucket="new-work", catalog_bucket="new-catalog", trainer="new@p.iam")
    (one,) = templates(change(facts(claims), after))
    assert (one.kind, one.subject) == ("account-changed", "trainer")


def test_orders_that_mean_nothing_and_texts_for_people_are_silent() -> None:
    old = replace(asking(env={"A": "1", "B": "2"}), summary="one")
    new = replace(asking(env={"B": "2", "A": "1"}), summary="another", parameters=(replace(SIZE, help="x"), TREES))
    assert found(old, new) == []


def test_code_out_of_another_bucket_than_the_catalog_s_blocks(snapshot: SnapshotAssertion) -> None:
    one = only(LORA, replace(LORA, package=LORA.package.replace("gs://acme-catalog/", "gs://evil/")))
    assert (one.kind, one.grade) == ("code-changed", Grade.BLOCKING)
    assert one.sentence == snapshot


def test_code_that_only_one_offer_or_worker_pool_runs_is_told_too() -> None:
    def runs(uri: str) -> Template:
        own, other = worker_pool(package=LORA.package), worker_pool(package=f"gs://acme-catalog/packages/{uri}")
        return template("lora", offer(request=request(own, other), pools=("a", "b"), roles=("chief", "workers")))

    one = only(runs("tool-1.tar.gz"), runs("tool-2.tar.gz"))
    assert one.kind == "code-changed"
    assert "/packages/tool-2.tar.gz` instead of " in one.sentence


def test_what_a_new_template_opens_that_no_other_has_stops_a_merge() -> None:
    plain, other = facts(template()), "owner@elsewhere.iam.gserviceaccount.com"
    for sent, words in (
        (request(serviceAccount=other), f"as `{other}`"),
        (request(enableWebAccess=True), "a shell in the browser"),
    ):
        new = replace(LORA, name="new", offers=tuple(replace(one, request=sent) for one in LORA.offers))
        (added,) = [one for one in templates(change(plain, facts(template(), new))) if one.kind == "template-added"]
        assert (added.grade, words in added.sentence) == (BLOCKING, True), added.sentence
