"""`slipway templates show` of a template with several kinds, variants and offers, as preview compiles it.

# D3 N3 Z1 Z8 W7
"""

import json

import pytest

from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.codec import write
from slipway.base.installation import updating
from slipway.deploying.deployment.publication import draws, template_entry
from slipway.google.quota.report import OfferVerdict
from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.machines.spec import MachineSpec
from slipway.template import JobTemplate, Metric, Package, Parameter, Search, Study, Variant, WorkerPool
from tests.checkouts.shell import slipway

from .stack import UNSET, Stack

pytestmark = pytest.mark.smoke

CPU = ClusterSpec("cpu", (PoolSpec("workers", MachineSpec("n1-standard-8"), 1, 4, True, 1),))
CONTEXT = CompileContext(
    "dev", "us-central1", "3f9c2e1", "c-dev", "w-dev", "t@p.iam", {"cpu": "cpu-1a2b3c4"}, project="acme"
)
LORA = JobTemplate(
    name="lora",
    summary="fine-tunes a model",
    code=Package("jobs/lora", "lora.task", "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:latest"),
    worker_pools=(WorkerPool("tuner", "n1-standard-8", args=("--model=${model}",)),),
    parameters=(
        Parameter("model", str, default="2b", choices=("2b", "27b")),
        Parameter("trials", int, default=8, min=1, max=20),
    ),
    kinds=("custom-job", "hyperparameter-tuning-job"),
    study=Study((Metric("loss", "minimize"),), (Search("rate", "double", 0.1, 1.0),), "${trials}", 2),
    capacity_types=("pool", "spot"),
    variants=(Variant({"model": "27b"}, (WorkerPool("tuner", "a3-highgpu-8g"),), ("flex-start", "on-demand")),),
    waits={"pool": 1800},
)


@pytest.fixture
def lora(stack: Stack) -> Stack:
    """The stack with the template in its catalog."""
    offers = prove(LORA, StackResources((CPU,), region="us-central1"))
    short, fine = OfferVerdict(False, "quota: short by 7"), OfferVerdict(True)
    verdicts = {draw.label: short if "spot" in draw.label else fine for draw in draws(LORA, offers)}
    entry = template_entry(LORA, offers, verdicts, CONTEXT, {LORA.packages[0]: "packages/lora.tar.gz"})
    stack.catalog["templates"] = {"lora": write(entry)}
    stack.publish()
    return stack


def row(text: str, *words: str) -> str:
    (line,) = (line for line in text.splitlines() if all(word in line for word in words))
    return " ".join(line.split())


def test_another_trainer_is_told_as_not_everybody_may_act_as_it(lora: Stack) -> None:  # P5
    assert "trainer" not in lora.run("templates", "show", "lora").out
    lora.catalog["trainers"] = {"evals": "evals-1@p.iam", "tuning": CONTEXT.trainer}
    lora.publish()
    said = lora.run("templates", "show", "lora").out
    assert "trainer tuning, t@p.iam: only its" in said
    assert lora.run("templates", "show", "lora", "-o", "json").json["template"]["trainer"] == "tuning"


def test_flags_before_the_verb_are_the_verbs(lora: Stack) -> None:
    assert lora.run("templates", "-o", "json", "show", "lora").json["kind"] == "template"
    done = lora.run("templates", "--catalog", "gs://nope-at-all", "show", "lora")
    assert done.code != 0 and done.out == "" and "gs://nope-at-all" in done.err
    own = ("templates", "--catalog", "gs://nope-at-all", "-o", "json", "show", "lora", "--catalog", lora.address)
    assert lora.run(*own).json["kind"] == "template"


def test_kinds_offers_and_what_chooses_them(lora: Stack) -> None:
    text = lora.run("templates", "show", "lora").out
    custom, tuning = text.split("hyperparameter-tuning-job   (--as hyperparameter-tuning-job)\n")
    pool = "pool model=2b pool cpu 1 tuner n1-standard-8 $0.46 moves on after 30 min"
    assert row(custom, "pool cpu") == pool
    assert row(custom, "machines of its own", "spot").endswith("quota: short by 7")
    flex = "flex-start model=27b machines of its own 1 tuner a3-highgpu-8g $51.52"
    assert row(custom, "flex-start") == flex
    assert row(custom, "on-demand").endswith("101.03")
    assert tuning.startswith("searches rate for loss (minimize):") and "2 at once, bayesian" in tuning
    assert row(tuning, "on-demand", "model=27b").endswith("202.07")


def test_a_kind_of_a_newer_version_is_told_apart_from_what_this_one_can_send(lora: Stack) -> None:
    template = lora.catalog["templates"]["lora"]
    template["kinds"].append("notebook-job")
    newer = {**template["offers"][0], "kind": "notebook-job", "request": {"notebook": []}, "when": {}}
    stranger = {**template["offers"][0], "capacityType": "calendar", "when": {}}
    template["offers"] += [newer, stranger]
    lora.publish()
    shown, update = lora.well("templates", "show", "lora"), updating()
    assert "what a notebook-job is; update" in shown.out
    assert f"know capacity type calendar; {update}" in " ".join(shown.out.split())
    asked = lora.run("submit", "lora", "--capacity", "calendar")
    assert asked.code == 5 and "capacity type calendar; update slipway" in asked.err
    assert lora.run("submit", "lora", "--dry-run").json["jobSpec"] and lora.run("quota").code == 0
    template["kinds"].reverse()
    lora.publish()
    asked = lora.run("submit", "lora")
    assert asked.code == 2 and "fix: update slipway" in asked.err
    lora.well("templates", "show", "lora", "--output", "json")


def test_values_that_no_offer_takes_for_one_reason_are_a_single_row_after_the_usual_ones(lora: Stack) -> None:
    for offer in lora.catalog["templates"]["lora"]["offers"]:
        if offer["when"] == {"model": ["27b"]}:
            offer.update(available=False, why="27b is too large")
    lora.publish()
    custom = lora.run("templates", "show", "lora").out.split("hyperparameter-tuning-job")[0]
    assert row(custom, "model=27b") == "none model=27b – – – 27b is too large"
    assert custom.index("pool cpu") < custom.index("model=27b")


def test_the_list_names_each_way_once_in_the_order_of_the_template(lora: Stack) -> None:  # W6
    """That of its defaults; what only other values have comes after them. The footnote stays with its table."""
    done = lora.run("templates")
    assert "pool, (spot), flex-start, on-demand" in done.out
    assert done.out.splitlines()[-1].startswith("(type) is not available now") and not done.err


def test_templates_are_listed_and_shown(stack: Stack) -> None:  # D3
    stack.catalog["templates"]["hello"]["offers"][1].update(available=False, why="quota: short by 3")
    stack.publish()
    listed = stack.run("templates")
    assert "hello     pool, (spot)    code" in listed.out and "says why" in listed.out
    shown = stack.run("templates", "show", "crew").out
    assert "a whole number, 1 to 50" in shown
    assert "n1-standard-4, 1 worker n1-standard-4 (parameter" in shown and "${" not in shown
    assert "quota: short by 3" in stack.run("templates", "show", "hello").out
    document = stack.run("templates", "--output", "json").json
    assert [template["name"] for template in document["templates"]] == ["crew", "hello"]
    assert document["catalog"]["commit"] == "3f9c2e1"
    assert stack.run("templates", "show", "helo").code == 2


def test_a_catalog_is_chosen_for_all_folders_or_for_one(stack: Stack) -> None:
    without = {"SLIPWAY_CATALOG": UNSET}
    assert stack.run("templates", **without).code == 2
    used = stack.well("use", stack.address, **without)
    assert f"{stack.name}, local-project us-central1, 2 templates" in used.out
    (elsewhere := stack.folder / "elsewhere").mkdir()
    environ = {name: value for name, value in stack.env().items() if name != "SLIPWAY_CATALOG"}
    assert slipway(("templates",), environ, elsewhere).code == 0 and not (stack.folder / ".slipway").exists()
    chosen = stack.run("use", **without).out
    assert chosen == f"{stack.address}/catalog.json  (chosen by {stack.folder / 'config' / 'catalog'})\n"
    assert "$SLIPWAY_CATALOG" in stack.run("use").out

    stack.put("other.json", json.dumps(stack.catalog).encode())
    other = f"{stack.address}/other.json"
    here = stack.well("use", "--here", other, **without)
    assert "warning" not in here.err
    assert stack.run("use", **without).out == f"{other}  (chosen by {stack.folder / '.slipway' / 'catalog'})\n"
    again = stack.run("use", stack.address, **without)
    assert f"has a choice of its own, {other}, which takes precedence" in again.err
    assert stack.run("use", "--here").code == 2


def test_a_catalog_that_cannot_be_read_is_not_remembered(standing: Stack) -> None:
    for flags in ((), ("--here",)):
        done = standing.run("use", *flags, "gs://no-such-bucket-anywhere", SLIPWAY_CATALOG=UNSET)
        assert done.code == 2 and "nothing is remembered" in done.err
    assert not list(standing.folder.rglob("catalog"))


IMAGE = "us-docker.pkg.dev/acme/train/task@sha256:" + "0f" * 32
JOB_FILE = f"""workerPoolSpecs:
  - machineSpec: {{machineType: n1-standard-4}}
    replicaCount: 1
    containerSpec: {{imageUri: "{IMAGE}", args: [--steps=3]}}
scheduling: {{timeout: 600s}}
"""


def test_a_job_file_of_gcloud_becomes_a_template_and_a_request_becomes_a_job_file(lora: Stack) -> None:  # N13
    (lora.folder / "My job.yaml").write_text(JOB_FILE)
    printed = lora.well("templates", "import", "My job.yaml", "--print")
    assert f'uri="{IMAGE}"' in printed.out
    homeless = lora.run("templates", "import", "My job.yaml")
    assert homeless.code == 2 and "it in the repository's root" in homeless.err
    (lora.folder / "templates").mkdir()
    assert lora.run("templates", "import", "My job.yaml").out == "wrote templates/my_job.py\n"
    assert (lora.folder / "templates" / "my_job.py").read_text() == printed.out
    again = lora.run("templates", "import", "My job.yaml")
    assert again.code == 2 and "templates/my_job.py exists, and was not" in again.err
    (lora.folder / "typo.yaml").write_text(JOB_FILE.replace("replicaCount", "replicaCuont"))
    wrong = lora.run("templates", "import", "typo.yaml")
    assert wrong.code == 2 and "typo.yaml:3  workerPoolSpecs[0].replicaCuont" in wrong.err
    assert not (lora.folder / "templates" / "typo.py").exists()

    shown = lora.run("templates", "show", "lora", "--format", "gcloud").out
    assert "custom-jobs create --project=local-project --region=us-central1 --display-name=lora-" in shown
    assert '- "--model=2b"' in shown and "${" not in shown
    (lora.folder / "lora.yaml").write_text(shown.replace("t@p.iam", "t@p.iam.gserviceaccount.com"))
    back = lora.well("templates", "import", "lora.yaml", "--code", "jobs/lora", "--print")
    assert 'args=("--model=2b",)' in back.out and "became the code in jobs/lora\n" in back.err
    both = lora.run("submit", "lora", "--dry-run", "--format", "gcloud", "--output", "json")
    assert both.code == 2 and "don't go together" in both.err


def test_an_unknown_template_is_shown_by_its_near_name(stack: Stack) -> None:
    assert "\n  fix: slipway templates show hello\n" in stack.run("templates", "show", "helo").err
