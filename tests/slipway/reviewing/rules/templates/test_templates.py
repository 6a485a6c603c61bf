"""Effects of a template's change on those who submit it, beside what the corpus has: every difference is named, and
no order alone is one. # N3 # N8 # D3"""

import copy
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from operator import getitem
from typing import Any, cast

import pytest

from slipway.authoring.stack.secrets import looks_secret
from slipway.google.jobs import VertexJob
from slipway.model.catalog.template import Parameter, Template
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Grade
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.labels import PIPELINE_LABEL, REQUEST_LABEL, TEMPLATE_LABEL, USER_LABEL, VARIABLE, recorded
from slipway.model.prices import UNKNOWN, Price
from slipway.reviewing.change.change import Files
from slipway.reviewing.change.secret_values import HIDDEN, bare
from slipway.reviewing.consequence import Consequence
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
    quota,
    request,
    template,
    worker_pool,
)

TREES = Parameter("trees", "int", 100, 1, 1000)
SIZE = Parameter("size", "str", "2b", choices=("2b", "9b", "27b"))
POOL, SPOT = offer(), offer("spot")
LORA = template("lora", POOL, SPOT, parameters=(TREES, SIZE), requirements=("torch==2.4",))


def found(old: Template | None, new: Template | None, **world: Any) -> list[Consequence]:
    before, after = (facts(*([side] if side else [])) for side in (old, new))
    return list(templates(change(before, after, **world)))


def only(old: Template | None, new: Template | None, **world: Any) -> Consequence:
    (consequence,) = found(old, new, **world)
    return consequence


def asking(**pool: Any) -> Template:
    """Return the template with two offers whose only worker pool is another one."""
    spec = pool.pop("spec", {})
    offers = tuple(
        replace(offer, request=request(worker_pool(**pool), capacity_type=offer.capacity_type, **spec))
        for offer in (POOL, SPOT)
    )
    return replace(LORA, offers=offers)


PLAIN = asking()


def test_use_that_could_not_be_read_is_not_claimed() -> None:
    (finding,) = found(LORA, None, recent=UNREAD)
    unknown = "who used it is not known: the jobs of the last 30 days could not be read"
    assert (finding.grade, finding.details) == (BLOCKING, (unknown,))


def test_what_follows_a_wait_is_told_once() -> None:
    before = replace(LORA, offers=(SPOT, offer("flex-start", wait=7200.0), offer("on-demand")))
    so = only(before, replace(before, offers=before.offers[1:])).so
    assert "by flex-start; they wait at most 2 h, then they cost" in so and so.count("on demand") == 1


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
    runs = "a run of up to 24 h costs $0.22/h on Spot, which may be taken away"
    assert only(None, fine).sentence == f"Submitters may run `lora`: {runs}"
    new = {consequence.kind: consequence for consequence in found(None, dead)}
    assert new["template-added"].sentence == "Submitters see `lora`, and can't run it"
    left = "Jobs of `lora` with its defaults can't run at all: quota: short by 1"
    assert (new["no-offer-left"].sentence, new["no-offer-left"].grade) == (left, BLOCKING)
    assert "no-offer-left" in {consequence.kind for consequence in found(fine, dead)}
    assert "no-offer-left" not in {consequence.kind for consequence in found(dead, dead)}


@pytest.mark.parametrize("state", ["unknown", "ok"])
def test_a_way_whose_quota_can_not_be_read_is_not_told_as_one_that_has_some(state: str) -> None:  # N6
    metric = "custom_model_training_preemptible_cpus"
    drawn = quota(QuotaLine(f"{metric} offers", state, 0, {"lora spot": 4}, 4, None if state == "unknown" else 8))
    shut = replace(SPOT, available=False)
    for kind, before in (("offer-added", (POOL,)), ("offer-available", (POOL, shut))):
        old, new = facts(replace(LORA, offers=before)), facts(LORA, quota=drawn)
        told = {each.kind: each for each in templates(change(old, new, limits=UNREAD))}[kind].sentence
        assert ("whether there is quota for it can't be told" in told) is (state == "unknown")


def test_another_default_needs_an_approval_unless_its_machines_are_known_to_cost_no_more() -> None:  # N5 Z8
    def graded(price: Price) -> Grade:
        larger = request(worker_pool(machine=H100), capacity_type="spot")
        ways = (
            replace(SPOT, when={"size": ("2b",)}),
            replace(SPOT, when={"size": ("9b", "27b")}, price_per_hour=price, request=larger),
        )
        old = replace(LORA, offers=ways)
        sent = job("a", template="lora", env={VARIABLE: recorded({"size": "2b"})}, state="SUCCEEDED")
        told = found(old, replace(old, parameters=(TREES, replace(SIZE, default="9b"))), recent=(sent,))
        return next(each.grade for each in told if each.kind == "default-changed")

    assert graded(Price(Decimal("99"))) == BLOCKING
    assert graded(Price(Decimal("0.01"))) == Grade.WARNING
    assert graded(UNKNOWN) == BLOCKING
    assert graded(Price(Decimal("0.01"), complete=False)) == BLOCKING


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


def test_a_list_is_told_by_its_items() -> None:  # N31
    layers = Parameter("layers", "list[int]", (64, 32), 1, 512)
    words = Parameter("words", "list[str]", ("relu",), choices=("relu", "gelu"))
    old = replace(LORA, parameters=(layers, words))

    def phrase(parameter: Parameter, **world: Any) -> str:
        others = tuple(each for each in old.parameters if each.name != parameter.name)
        return only(old, replace(old, parameters=(parameter, *others)), **world).sentence

    default = phrase(replace(layers, default=(64,)))
    assert default.startswith("Submissions of `lora` without `layers` get `64` instead of `64,32`")
    assert phrase(replace(words, choices=("relu",))).startswith("Submissions of `lora` with `words` `gelu` are refused")
    given = job("a", template="lora", env={VARIABLE: recorded({"layers": (500, 400)})}, state="SUCCEEDED")
    (narrowed,) = found(old, replace(old, parameters=(replace(layers, max=400), words)), recent=(given,))
    assert "with `layers` above 400 (it was 512) are refused" in narrowed.sentence
    assert narrowed.instead.startswith("let scripts, sweeps and schedules give another value first")
    assert "will be refused, used lately: `500,400`" in narrowed.details
    several = replace(TREES, type="list[int]", default=(100,))
    wider = only(replace(old, parameters=(TREES,)), replace(old, parameters=(several,)))
    assert "may give `trees` as list[int]: code that reads a whole number may fail" in wider.sentence
    keys = Parameter("keys", "list[str]", (f"hf_{'aB3' * 12}", "b"))
    secret = {told.kind: told for told in found(old, replace(old, parameters=(layers, words, keys)))}
    assert secret["plain-secret"].grade == BLOCKING and not any("aB3" in told.sentence for told in secret.values())


def test_a_bound_is_told_with_all_its_digits() -> None:  # N5
    tokens = Parameter("tokens", "int", 1, max=2_500_000)
    narrower = replace(LORA, parameters=(replace(tokens, max=1_234_567),))
    told = only(replace(LORA, parameters=(tokens,)), narrower)
    assert "above 1234567 (it was 2500000) are refused" in told.sentence
    assert narrower.parameters[0].refusal(2_000_000) == "is above max 1234567"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"min": 1, "max": 9}, {"max": 9}, ["may have `n` below 1 too"]),
        ({"min": 1, "max": 9}, {}, ["may have `n` below 1 too and above 9 too"]),
        ({"choices": (1, 8)}, {"min": 1, "max": 8}, ["may have `n` of 1 to 8, not only its choices"]),
        (
            {"choices": (1, 8)},
            {"max": 4},
            ["with `n` `8` are refused", "may have `n` of at most 4, not only its choices"],
        ),
        ({"choices": (1, 8)}, {}, ["may have `n` of any value, not only its choices"]),
    ],
)
def test_bounds_say_what_is_refused_now_and_what_was_before(
    old: dict[str, Any], new: dict[str, Any], words: list[str]
) -> None:
    before, after = (replace(LORA, parameters=(Parameter("n", "int", 1, **side),)) for side in (old, new))
    assert [told.sentence.removeprefix("Submissions of `lora` ") for told in found(before, after)] == words


OWN, MORE = "--index-url https://pip.example/simple", "--extra-index-url https://{}.example"


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ([], ["--index-url https://pypi.org/simple/"], []),
        ([MORE.format("a"), MORE.format("b")], [MORE.format("b"), f"{MORE.format('a')}/"], []),
        ([], [MORE.format("a")], ["requirements-index"]),
        (["torch==2.4"], ["torch===2.4"], ["requirement-pinned"]),
        (["torch==2.4"], ["torch==2.4+cu121"], ["requirement-local"]),
        ([OWN, "torch==2.4"], [OWN, "torch==2.4+cu121"], ["requirement-other"]),
    ],
)
def test_an_index_is_one_in_any_spelling_and_place(old: list[str], new: list[str], kinds: list[str]) -> None:
    before, after = (replace(LORA, requirements=tuple(side)) for side in (old, new))
    assert [told.row for told in found(before, after)] == kinds


SAME, OTHER = (f"us-docker.pkg.dev/acme/judge@sha256:{digit * 64}" for digit in "12")


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        (SAME, SAME.replace("acme/", "acme-prod/"), False),
        (SAME, SAME.replace("judge", "judge-2"), False),
        (SAME, OTHER, True),
        (SAME, OTHER.replace("acme/", "acme-prod/"), True),
    ],
)
def test_a_copy_of_an_image_has_nothing_else_in_it(old: str, new: str, differs: bool) -> None:
    before, after = (asking(image=image) for image in (old, new))
    sentence = only(before, after).sentence
    assert any(words in sentence for words in ("results may differ", "what is in it")) is differs


def test_a_template_of_another_image_is_no_other_name_of_one_that_goes() -> None:
    old, new, other = (
        replace(asking(image=image), name=name, package="")
        for name, image in (("old", SAME), ("new", OTHER), ("new", OTHER.replace("judge", "train")))
    )
    renamed, gone = (
        next(told for told in templates(change(facts(old), facts(side))) if told.kind == "template-gone")
        for side in (new, other)
    )
    assert "called `new`" in renamed.sentence and "called" not in gone.sentence


@pytest.mark.parametrize(
    ("value", "on_disk"),
    [
        ("/tmp/x", True),
        ("./x", True),
        ("out/x", True),
        ("https://example.com/x", False),
        ("/mnt/x", False),
        ("x", False),
    ],
)
def test_a_place_for_results_is_on_a_disk_where_its_path_says_so(value: str, on_disk: bool) -> None:
    told = only(asking(env={"OUTPUT_DIR": "gs://acme/x"}), asking(env={"OUTPUT_DIR": value}))
    assert ("on a machine's disk" in told.does) is on_disk


REQUIRES = """    parser.add_argument("-o", "--output", required=True)
    for name in ("--model", "--steps", "--rank", "--precision"):
        parser.add_argument(name)
    parser.parse_args()
"""
GIVEN = '    "--output=${slipway.output}",\n'


@pytest.mark.parametrize(
    ("given", "code", "row"),
    [
        ('    "-o=${slipway.output}",\n', REQUIRES, "arguments-other"),
        ('    "--out=${slipway.output}",\n', REQUIRES, "arguments-other"),
        ("", REQUIRES, "arguments-unmet"),
        (f'{GIVEN}    "--lr=1",\n', REQUIRES, "arguments-strange"),
        (f'{GIVEN}    "--lr=1",\n', f"    add_more(parser)\n{REQUIRES}", "arguments-other"),
        (
            f'{GIVEN}    "--lr=1",\n',
            f"    def add(parser):\n        pass\n    add(parser)\n{REQUIRES}",
            "arguments-strange",
        ),
        (
            f'{GIVEN}    "--lr=1",\n',
            REQUIRES.replace(".parse", " = Parser(parents=[of])\n    parser.parse"),
            "arguments-other",
        ),
    ],
)
def test_an_argument_is_known_in_each_form_and_from_any_module(given: str, code: str, row: str) -> None:
    known = Edit("jobs/lora/task.py", '    print("trained", EVERY)\n', code)
    case = Case("", (Edit("templates/lora.py", GIVEN, given),), given=(known,))
    rows = {told.row for told in play(case).consequences}
    assert row in rows and rows & {"arguments-unmet", "arguments-strange"} <= {row}


def test_a_new_study_takes_a_round_of_trials_after_another() -> None:
    file = (BASE / "templates/tune.py").read_text("utf-8").replace('"tune"', '"again"').replace("a tuning", "another")
    listed = Edit(STACK, "    - tune\n", "    - tune\n    - again\n")
    (told,) = play(Case("", (Edit("templates/again.py", "", file), listed))).consequences
    assert "a run of up to 4 h costs" in told.sentence


def test_a_template_on_machines_of_a_team_alone_is_for_that_team() -> None:
    file = (BASE / "templates/tune.py").read_text("utf-8").replace('"tune"', '"again"').replace("a tuning", "another")
    alone = file.replace("    timeout_s", '    capacity_types=("pool",),\n    timeout_s')
    team = "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [cpu] } }\n"
    given = (Edit(STACK, "  slipway:policy:\n", f"{team}  slipway:policy:\n"),)
    listed = Edit(STACK, "    - tune\n", "    - tune\n    - again\n")
    told = play(Case("", (Edit("templates/again.py", "", alone), listed), given=given)).consequences
    assert [part.who for part in told if part.kind == "template-added"] == ["`user:ada@acme.example`"]


def test_a_file_that_jobs_start_is_no_test_whatever_its_name() -> None:
    starts = Edit("templates/lora.py", "lora.task", "lora.test_run")
    given = (Edit("jobs/lora/test_run.py", "", "x = 1\n"), starts)
    case = Case("", (Edit("jobs/lora/test_run.py", "x = 1", "x = 2"),), given=given)
    assert [told.row for told in play(case).consequences] == ["code-changed"]


@pytest.mark.parametrize(("name", "kind"), [("fast_run", "parameter-renamed"), ("verbose", "parameter-gone")])
def test_a_switch_is_renamed_where_its_names_have_a_word_in_common(name: str, kind: str) -> None:
    old, new = (replace(LORA, parameters=(Parameter(each, "bool", False),)) for each in ("fast", name))
    assert kind in {told.kind for told in found(old, new)}


def test_what_differs_in_one_offer_names_it() -> None:
    other = replace(POOL, request=request(worker_pool(env={"A": "1"})))
    told = only(LORA, replace(LORA, offers=(other, SPOT)))
    assert told.phrase == "Jobs of {it} on pool `cpu` run with `A` = `1`"


def test_a_bucket_and_a_trainer_that_move_are_not_told_of_each_template() -> None:
    claims = asking(args=(f"gs://{WORK_BUCKET}/claims/x", f"gs://{CATALOG_BUCKET}/y"))
    moved = asking(args=("gs://new-work/claims/x", "gs://new-catalog/y"), spec={"serviceAccount": "new@p.iam"})
    after = facts(moved, work_bucket="new-work", catalog_bucket="new-catalog", trainer="new@p.iam")
    assert list(templates(change(facts(claims), after))) == []


def test_code_out_of_another_bucket_than_the_catalog_s_blocks() -> None:
    finding = only(LORA, replace(LORA, package=LORA.package.replace("gs://acme-catalog/", "gs://evil/")))
    assert (finding.kind, finding.grade) == ("code-changed", BLOCKING)
    assert "`gs://evil/packages/lora/0123456.tar.gz`" in finding.sentence


def test_lines_of_one_package_are_compared_together() -> None:
    twice = replace(LORA, requirements=("torch==2.4; python_version<'3.12'", "torch==2.3; python_version>='3.12'"))
    assert "results may differ" in only(LORA, twice).sentence
    assert found(twice, replace(twice, requirements=twice.requirements[::-1])) == []
    assert only(LORA, replace(LORA, requirements=LORA.requirements * 2)).kind == "requirements-changed"


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


BLOCKING = Grade.BLOCKING


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "abc"),
        ("DB", "postgres://u:pw@host/db"),
        ("X", "hf_" + "a" * 20),
        ("API_KEY", "k" * 9),
        ("JUDGE_KEY", "jk-1"),
        ("HFTOKEN", "abc"),
    ],
)
def test_a_secret_in_plain_text_is_blocking_and_not_shown(name: str, value: str) -> None:
    some = found(PLAIN, asking(env={name: value}))
    assert {consequence.kind for consequence in some} == {"plain-secret"}
    assert max(consequence.grade for consequence in some) is BLOCKING
    assert value not in repr(some)
    assert found(asking(env={name: value}), asking(env={name: value})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN__SECRET", "projects/p/secrets/hf/versions/1"),
        ("TOKENS", "300"),
        ("API_KEY_FILE", "/gcs/x"),
        ("SORT_KEY", "user_id"),
        ("PAD_TOKEN", "<pad>"),
        ("HF_TOKEN", "${token}"),
    ],
)
def test_a_reference_to_a_secret_is_none(name: str, value: str) -> None:
    assert "plain-secret" not in {consequence.kind for consequence in found(PLAIN, asking(env={name: value}))}


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


def test_a_value_of_megabytes_takes_no_longer_than_a_short_one() -> None:
    assert not looks_secret("eyJaaaaaaaaaa-" * 1_000_000)
    beside = "x" * 9000 + " a"
    assert bare("x" * 9000 + " hf_" + "a" * 40, beside=beside) == HIDDEN


def test_code_is_told_neither_of_another_spelling_nor_of_a_subcommand_nor_of_what_the_service_sets() -> None:
    asks = (
        '    parser.add_argument("--base", "--model", required=True)\n',
        '    command = parser.add_subparsers().add_parser("merge")\n',
        "    of = command.add_argument_group()\n",
        '    of.add_argument("--into", required=True)\n',
        '    os.environ.get("AIP_MODEL_DIR", "/tmp")\n',
    )
    edit = Edit("jobs/lora/task.py", '    print("trained", EVERY)\n', "".join(asks))
    told = play(Case("", (edit,))).consequences
    assert [part.kind for part in told] == ["code-changed"]
    assert not [detail for part in told for detail in part.details if "nothing sets" in detail]


def test_a_new_template_that_takes_a_whole_pool_says_so() -> None:  # N3
    wide = (
        (BASE / "templates/digits.py")
        .read_text("utf-8")
        .replace('"digits"', '"wide"')
        .replace("default=4", "default=16")
    )
    listed = Edit(STACK, "    - tune\n", "    - tune\n    - wide\n")
    (added,) = play(Case("", (Edit("templates/wide.py", "", wide), listed))).consequences
    assert "it takes all 16 machines of `cpu/workers`, and others wait" in added.sentence


def test_a_way_that_nobody_could_take_is_newly_refused_to_nobody() -> None:  # N3
    shut = replace(SPOT, available=False, why="no quota")
    (gone,) = (
        part for part in found(template("lora", POOL, shut), template("lora", POOL)) if part.kind == "offer-gone"
    )
    assert "`--capacity spot` is refused" not in gone.sentence
    (gone,) = (
        part for part in found(template("lora", POOL, SPOT), template("lora", POOL)) if part.kind == "offer-gone"
    )
    assert "`--capacity spot` is refused" in gone.sentence


def test_a_case_that_fits_no_pool_any_more_is_not_called_refused_by_its_file() -> None:  # N3
    model = Parameter("model", "str", "2b", choices=("2b", "27b"))
    small, large = (replace(POOL, when={"model": (word,)}) for word in ("2b", "27b"))
    unfit = replace(large, available=False, cluster="", pools=("",))
    fine, less = (replace(LORA, parameters=(model,), offers=(small, each)) for each in (large, unfit))
    told = "can't use pool `cpu` any more, nor run at all: they fit no pool that they may use"
    assert only(fine, less).sentence == f"Jobs of `lora` (model=27b) {told}"
