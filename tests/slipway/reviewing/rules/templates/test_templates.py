"""Effects of a template's change on those who submit it, beside what the corpus has: every difference is named, and
no order alone is one. # N3 # N8 # D3"""

import copy
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any, cast

import pytest

from slipway.google.jobs import VertexJob
from slipway.model.catalog.template import Parameter, Template
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.labels import PIPELINE_LABEL, REQUEST_LABEL, TEMPLATE_LABEL, USER_LABEL
from slipway.reviewing.change.change import Files
from slipway.reviewing.review import review
from slipway.reviewing.rules.templates.templates import templates
from tests.review.case import STACK, Case, Edit
from tests.review.checkout import BASE
from tests.review.play import play
from tests.slipway.reviewing.builders import (
    CATALOG_BUCKET,
    H100,
    UNREAD,
    WORK_BUCKET,
    change,
    cluster,
    facts,
    job,
    offer,
    pool,
    request,
    template,
    worker_pool,
)
from tests.slipway.reviewing.rules.templates.two_ways import BLOCKING, LORA, POOL, SPOT, asking, found, only


def test_use_that_could_not_be_read_is_not_claimed() -> None:
    (finding,) = found(LORA, None, recent=UNREAD)
    unknown = "not known: who used it in the last 30 days"
    assert (finding.grade, finding.details) == (BLOCKING, (unknown,))


def test_another_order_of_pools_is_none_of_capacity_types() -> None:
    """The clusters' order, or a new name of one, is the cause, and `--capacity pool` chooses neither."""
    cpu, night = (replace(offer(cluster=name), pools=("workers",)) for name in ("cpu", "night"))
    moved = only(replace(LORA, offers=(cpu, night)), replace(LORA, offers=(night, cpu)))
    assert moved.phrase == "Jobs of {it} try pool `night` before pool `cpu`"
    assert moved.field == ""


def test_who_tried_an_offer_that_is_gone_is_counted_by_its_cluster() -> None:
    """Jobs of any generation count, queued ones too; an adopted cluster is known by the id that it has."""

    def lost(new: Template, *recent: VertexJob) -> tuple[str, ...]:
        there = change(facts(*clusters, before), facts(*clusters, new), recent=recent)
        return next(template.details for template in templates(there) if template.kind == "offer-gone")

    clusters = cpu, adopted = cluster("cpu", pool()), replace(cluster("spare", pool()), id="their-machines")
    before = replace(LORA, offers=(POOL, offer(cluster="spare"), SPOT))
    no_pool, no_spare = replace(LORA, offers=before.offers[1:]), replace(LORA, offers=(POOL, SPOT))
    jobs = (job("a", user="ada", on=replace(cpu, id="cpu-0badbad-2"), state="SUCCEEDED"), job("b", on=cpu))
    two = "2 submissions by 2 people tried pool cpu in the last 30 days (ada 1 and user-a 1)"
    assert lost(no_pool, *jobs) == (two,)
    template = "1 submission by ci tried pool spare in the last 30 days"
    assert lost(no_spare, *jobs, job("c", on=adopted, user="ci", state="QUEUED")) == (template,)


def test_tasks_of_a_pipeline_and_a_second_try_are_no_submissions_of_their_own() -> None:
    """The tasks bear the labels of their pipeline, and the next try those of the first."""

    def sent(name: str, **labels: str) -> VertexJob:
        return job(name, labels={TEMPLATE_LABEL: "lora", USER_LABEL: "ada", **labels})

    run = replace(sent("run", **{PIPELINE_LABEL: "7"}), kind=PIPELINE_JOB)
    tasks = (sent(name, **{PIPELINE_LABEL: "7"}) for name in ("read", "train"))
    tries = (sent(name, **{REQUEST_LABEL: "night", USER_LABEL: "ci"}) for name in ("night-1", "night-2"))
    (gone,) = found(LORA, None, recent=(run, *tasks, *tries))
    assert gone.details == ("2 submissions by 2 people used it in the last 30 days (ada 1 and ci 1)",)


def test_a_template_can_be_submitted_when_its_defaults_can() -> None:  # N6
    """`gemma2-lora` *can be submitted*, while no type takes its defaults."""
    model = Parameter("model", "str", "2b", choices=("2b", "27b"))
    small, large = (replace(SPOT, when={"model": (word,)}) for word in ("2b", "27b"))
    short = replace(small, available=False, lacks_quota=True, why="quota: short by 1")
    fine, dead = (replace(LORA, parameters=(model,), offers=some) for some in ((small, large), (short, large)))
    runs = "a usual run (model=2b) costs $0.22/h on Spot"
    assert only(None, fine).sentence == f"`lora` is new: {runs}"
    new = {consequence.kind: consequence for consequence in found(None, dead)}
    assert new["template-added"].sentence == "`lora` is new"
    left = "Jobs of `lora` with its defaults can't run: quota: short by 1"
    assert (new["no-offer-left"].sentence, new["no-offer-left"].grade) == (left, BLOCKING)
    assert "no-offer-left" in {consequence.kind for consequence in found(fine, dead)}
    assert "no-offer-left" not in {consequence.kind for consequence in found(dead, dead)}


@pytest.mark.parametrize(("file", "told"), [("pipelines/a.yaml", True), ("stacks/Pulumi.prod.yaml", False)])
def test_a_pipeline_whose_file_nobody_edited_is_no_other_version(file: str, told: bool) -> None:
    """A deployment fills in the stack's own catalog."""
    old, new = (
        template(
            "pipe",
            offer("on-demand", kind="pipeline", request={"pipelineSpec": {"root": {"dag": {"tasks": {}}, "of": of}}}),
        )
        for of in ("gs://a", "gs://b")
    )
    found = templates(change(facts(old), facts(new), files=Files(touched=frozenset({file}))))
    assert [part.what for part in (each.subject for each in found)] == ["template"] * told


def test_a_key_of_the_stack_file_is_named_where_that_is_edited() -> None:
    """A program of one's own sets the same values by itself."""

    def field(*touched: str) -> str:
        made = change(facts(board=False), facts(board=True), files=Files(touched=frozenset(touched)))
        return next(part.field for part in review(made).consequences if part.kind == "board-shown")

    assert field() == field("stacks/Pulumi.prod.yaml", "docs/a.md") == "slipway:workspace.board"
    assert field("templates/a.py") == ""


def test_a_template_of_another_name_is_compared_with_its_former_self() -> None:
    file = (BASE / "templates/tune.py").read_text("utf-8").replace('name="tune"', 'name="search"')
    listed, goes = Edit(STACK, "    - tune\n", "    - search\n"), Edit("templates/tune.py")

    def told(*edits: tuple[str, str], beside: tuple[Edit, ...] = (goes, listed)) -> list[str]:
        text = reduce(lambda text, edit: text.replace(*edit), edits, file)
        return [part.kind for part in play(Case("", (Edit("templates/search.py", "", text), *beside))).consequences]

    assert told() == ["template-gone"]
    assert told(("default=8", "default=4")) == ["template-gone", "default-changed"]
    # A copy of what stays is no other name of what goes.
    stays = (Edit("templates/evals.py"), Edit(STACK, "    - evals\n", "    - search\n"))
    assert told(beside=stays) == ["template-gone", "template-added"]


def test_a_template_on_machines_of_a_team_alone_is_told_with_that_team() -> None:
    file = (BASE / "templates/tune.py").read_text("utf-8").replace('"tune"', '"again"').replace("a tuning", "another")
    alone = file.replace("    timeout_s", '    capacity_types=("pool",),\n    timeout_s')
    team = "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [cpu] } }\n"
    given = (Edit(STACK, "  slipway:policy:\n", f"{team}  slipway:policy:\n"),)
    listed = Edit(STACK, "    - tune\n", "    - tune\n    - again\n")
    told = play(Case("", (Edit("templates/again.py", "", alone), listed), given=given)).consequences
    (added,) = (part.so for part in told if part.kind == "template-added")
    assert "(team `vision` alone)" in added


def test_what_differs_in_one_offer_names_it() -> None:
    other = replace(POOL, request=request(worker_pool(env={"A": "1"})))
    told = only(LORA, replace(LORA, offers=(other, SPOT)))
    assert told.phrase == "Jobs of {it} on pool `cpu` run with `A` = `1`"


def test_a_bucket_and_a_trainer_that_move_are_not_told_of_each_template() -> None:
    claims = asking(args=(f"gs://{WORK_BUCKET}/claims/x", f"gs://{CATALOG_BUCKET}/y"))
    moved = asking(args=("gs://new-work/claims/x", "gs://new-catalog/y"), spec={"serviceAccount": "new@p.iam"})
    after = facts(moved, work_bucket="new-work", catalog_bucket="new-catalog", trainer="new@p.iam")
    assert list(templates(change(facts(claims), after))) == []


@pytest.mark.parametrize(
    ("opens", "words"),
    [
        ({"serviceAccount": "owner@elsewhere.iam.gserviceaccount.com"}, "as `owner@elsewhere.iam.gserviceaccount.com`"),
        ({"enableWebAccess": True}, "a shell in the browser"),
    ],
)
def test_what_a_new_template_opens_that_no_other_has_stops_a_merge(opens: dict[str, Any], words: str) -> None:
    new = replace(LORA, name="new", offers=tuple(replace(offer, request=request(**opens)) for offer in LORA.offers))
    told = templates(change(facts(template()), facts(template(), new)))
    (added,) = (consequence for consequence in told if consequence.kind == "template-added")
    assert (added.grade, words in added.sentence) == (BLOCKING, True), added.sentence


WHOLE = request(
    worker_pool(image="a:1", args=("--x=1",), env={"A": "1"}), worker_pool(H100, 2, reservation="projects/p/r")
) | {"encryptionSpec": {"kmsKeyName": "k"}}


SILENT = ("persistentResourceId", "packageUris")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return [path]
    return [leaf for key, inner in items for leaf in leaves(inner, (*path, key))]


@pytest.mark.parametrize("path", [path for path in leaves(WHOLE) if not set(path) & set(SILENT)], ids=repr)
def test_no_single_difference_of_a_request_is_silent(path: tuple[Any, ...]) -> None:
    old, other, less = (
        replace(LORA, offers=(replace(POOL, request=copy.deepcopy(WHOLE), roles=("chief", "worker")),))
        for _ in range(3)
    )
    changed, shorter = (reduce(getitem, path[:-1], cast(Any, version.offers[0].request)) for version in (other, less))
    changed[path[-1]] = "7"
    del shorter[path[-1]]
    assert found(old, other) and found(old, less)
    assert found(old, old) == []


def test_a_way_that_nobody_could_take_is_newly_refused_to_nobody() -> None:  # N3
    shut = replace(SPOT, available=False, why="no quota")
    (gone,) = (
        part for part in found(template("lora", POOL, shut), template("lora", POOL)) if part.kind == "offer-gone"
    )
    assert gone.sentence == "Jobs of `lora` are not offered Spot any more"
    (gone,) = (
        part for part in found(template("lora", POOL, SPOT), template("lora", POOL)) if part.kind == "offer-gone"
    )
    assert (
        gone.sentence == "Jobs of `lora` can't use Spot any more: jobs that find no room by earlier ways have no other"
    )


def test_a_case_that_fits_no_pool_any_more_is_not_called_refused_by_its_file() -> None:  # N3
    model = Parameter("model", "str", "2b", choices=("2b", "27b"))
    small, large = (replace(POOL, when={"model": (word,)}) for word in ("2b", "27b"))
    unfit = replace(large, available=False, cluster="", pools=("",))
    fine, less = (replace(LORA, parameters=(model,), offers=(small, each)) for each in (large, unfit))
    told = "can't use pool `cpu` any more, nor run now with the defaults: they fit no pool that they may use"
    assert only(fine, less).sentence == f"Jobs of `lora` (model=27b) {told}"


def test_a_key_of_machines_of_jobs_own_is_none_of_those_on_a_pool() -> None:  # N3
    """Three ways were too many to name, and the comment spoke of all jobs."""

    def side(key: str) -> Template:
        own = [
            offer(kind_of, shape=shape, request={**request(worker_pool(H100)), "encryptionSpec": {"kmsKeyName": key}})
            for kind_of, shape in (("on-demand", "a"), ("on-demand", "b"), ("flex-start", "a"))
        ]
        return template("lora", offer(cluster="h100"), *own)

    on = cluster("h100", pool("workers", H100, 1, 4))
    (told,) = templates(change(facts(on, side("keys/a")), facts(on, side("keys/b"))))
    assert told.sentence.startswith(
        "Jobs of `lora` on demand with `a`, on demand with `b` and by flex-start with `a` are"
    ), told.sentence
