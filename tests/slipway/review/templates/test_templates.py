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

BEFORE, WARNING, BLOCKING = Grade.NOTE, Grade.WARNING, Grade.BLOCKING


CASES: tuple[tuple[str, Template | None, Template | None, str, Grade, str], ...] = (
    ("one more", None, LORA, "template-added", BEFORE, "`lora` can be submitted"),
    ("one less", LORA, None, "template-gone", WARNING, "`lora` can't be submitted any more"),
    (
        "a parameter is gone",
        LORA,
        with_parameters(SIZE),
        "parameter-gone",
        WARNING,
        "`lora`: parameter `trees` is gone, so a submission that sets it is refused",
    ),
    (
        "a parameter has another name",
        LORA,
        with_parameters(replace(TREES, name="count"), SIZE),
        "parameter-renamed",
        WARNING,
        "`lora`: parameter `trees` is called `count` now, so a submission that sets it is refused",
    ),
    (
        "a parameter more",
        LORA,
        with_parameters(TREES, SIZE, Parameter("seed", "int", 0)),
        "parameter-added",
        BEFORE,
        "`lora`: parameter `seed` is new, default `0`",
    ),
    (
        "a parameter more that must be given",
        LORA,
        with_parameters(TREES, SIZE, Parameter("data", "str")),
        "parameter-required",
        WARNING,
        "`lora`: parameter `data` is new and has no default, so a submission without it is refused",
    ),
    (
        "no default any more",
        LORA,
        with_parameters(replace(TREES, default=None), SIZE),
        "parameter-required",
        WARNING,
        "has no default any more (it was `100`)",
    ),
    (
        "another default",
        LORA,
        with_parameters(replace(TREES, default=500), SIZE),
        "default-changed",
        WARNING,
        "`lora`: parameter `trees`: default `100` → `500`",
    ),
    (
        "another type",
        LORA,
        with_parameters(replace(TREES, type="float"), SIZE),
        "parameter-type",
        WARNING,
        "parameter `trees` takes float, it took int",
    ),
    (
        "a lower maximum",
        LORA,
        with_parameters(replace(TREES, max=500), SIZE),
        "bounds-narrowed",
        WARNING,
        "max 1000 → 500",
    ),
    (
        "a higher maximum",
        LORA,
        with_parameters(replace(TREES, max=None), SIZE),
        "bounds-widened",
        BEFORE,
        "max 1000 → none",
    ),
    (
        "a choice less",
        LORA,
        with_parameters(TREES, replace(SIZE, choices=("2b", "9b"))),
        "bounds-narrowed",
        WARNING,
        "choice `27b` is gone",
    ),
    ("an offer less", LORA, replace(LORA, offers=(POOL,)), "offer-gone", WARNING, "`spot` is not offered any more"),
    ("an offer more", replace(LORA, offers=(POOL,)), LORA, "offer-added", BEFORE, "`spot` is offered now"),
    (
        "an offer before others",
        replace(LORA, offers=(SPOT,)),
        LORA,
        "offer-added",
        WARNING,
        "`lora`: `pool cpu` is offered now, and is tried before `spot`",
    ),
    (
        "another order",
        LORA,
        replace(LORA, offers=(SPOT, POOL)),
        "offer-order",
        WARNING,
        "`lora`: `spot` is tried before `pool cpu` now",
    ),
    (
        "an offer that can't be taken",
        LORA,
        replace(LORA, offers=(POOL, replace(SPOT, available=False, why="short by 7"))),
        "offer-unavailable",
        WARNING,
        "`spot` can't be taken any more: short by 7",
    ),
    (
        "another wait",
        LORA,
        replace(LORA, offers=(replace(POOL, wait=600.0), SPOT)),
        "fallback-wait",
        WARNING,
        "waits for `pool cpu` for ever → 10 min before it falls back",
    ),
    ("an image", asking(image="a:1"), asking(image="a:2"), "image-changed", WARNING, "`lora`: image: `a:1` → `a:2`"),
    (
        "an environment variable",
        asking(env={"LEVEL": "1"}),
        asking(env={"LEVEL": "2"}),
        "environment-changed",
        WARNING,
        "environment variable `LEVEL`: `1` → `2`",
    ),
    (
        "a secret",
        asking(env={"HF__SECRET": "projects/p/secrets/a/versions/1"}),
        asking(env={"HF__SECRET": "projects/p/secrets/a/versions/2"}),
        "secrets-changed",
        WARNING,
        "secret `HF`: `projects/p/secrets/a/versions/1` → `projects/p/secrets/a/versions/2`",
    ),
    (
        "an argument",
        asking(args=("--a=1", "--b=1")),
        asking(args=("--a=1", "--b=2")),
        "arguments-changed",
        WARNING,
        "arguments: `--b=1` → `--b=2`",
    ),
    (
        "the order of arguments",
        asking(args=("a", "b")),
        asking(args=("b", "a")),
        "arguments-changed",
        WARNING,
        "arguments: `a` and `b` → `b` and `a`",
    ),
    (
        "machines",
        PLAIN,
        asking(machine=H100),
        "machines-changed",
        WARNING,
        "`a3-highgpu-8g with 8 NVIDIA_H100_80GB × 1, pd-ssd 500 GB`",
    ),
    ("replicas", PLAIN, asking(replicas=3), "machines-changed", WARNING, "× 1, pd-ssd 100 GB` → `n1-standard-8 × 3"),
    (
        "a timeout",
        replace(PLAIN, offers=PLAIN.offers[:1]),
        replace(PLAIN, offers=asking(spec={"scheduling": {"timeout": "3600s"}}).offers[:1]),
        "timeout-changed",
        WARNING,
        "timeout: `86400s` → `3600s`",
    ),
    (
        "an account",
        PLAIN,
        asking(spec={"serviceAccount": "a@b.c"}),
        "account-changed",
        WARNING,
        "`the trainer` → `a@b.c`",
    ),
    ("a network", PLAIN, asking(spec={"network": "n"}), "network-changed", WARNING, "network `network`: none → `n`"),
    ("web access", PLAIN, asking(spec={"enableWebAccess": True}), "web-access-changed", WARNING, "none → `true`"),
    (
        "what nobody has heard of",
        PLAIN,
        asking(spec={"x": {"y": 1}}),
        "request-changed",
        BEFORE,
        "`spec/x/y`: none → `1`",
    ),
    (
        "code",
        LORA,
        replace(LORA, package="gs://acme-catalog/packages/lora-2.tar.gz"),
        "code-changed",
        WARNING,
        "new jobs run other code, `0123456` → `lora-2`",
    ),
    (
        "requirements",
        LORA,
        replace(LORA, requirements=("torch==2.5",)),
        "requirements-changed",
        WARNING,
        "jobs install `torch==2.4` → `torch==2.5`",
    ),
    ("--code", LORA, replace(LORA, code_flag=True), "code-allowed", WARNING, "with code that nobody reviewed"),
    (
        "a kind less",
        replace(LORA, kinds=(CUSTOM_JOB.name, PIPELINE.name)),
        LORA,
        "kind-gone",
        WARNING,
        "training pipeline",
    ),
    ("no checkpoints", replace(LORA, checkpoints=True), LORA, "request-changed", WARNING, "does not say any more"),
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
    assert only(None, fine).sentence == "`lora` can be submitted"
    new = {one.kind: one for one in found(None, dead)}
    assert new["template-added"].sentence == "`lora` is published"
    left = new["no-offer-left"]
    assert left.sentence == snapshot
    assert left.grade is WARNING
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
    assert "package: `gs://(the catalog bucket)/packages/tool-1.tar.gz` → " in one.sentence
