"""A stack file is checked as a whole, and each finding said at its line."""

import json
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.structure import schema_text
from slipway.base.errors import ConfigError
from slipway.front.cli import check as check_module
from slipway.front.cli.check import command as check
from slipway.using.context import Clock

from .files import HEAD, with_config, with_pool, wrong

TEMPLATE = """
    from slipway.template import Disk, JobTemplate, Package, WorkerPool

    TEMPLATE = JobTemplate(
        name="train",
        summary="Trains",
        code=Package(folder="jobs/train", module="train.task", image="us-docker.pkg.dev/vertex-ai/training/sk:latest"),
        worker_pools=(WorkerPool(role="workers", machine="n1-standard-8", disk=Disk("pd-ssd", 100), replicas=1),),
        capacity_types=("pool",),
    )
"""
GOOD = with_pool("machine: n1-standard-8\nreplicas: {min: 1, max: 4}") + "  slipway:templates: [train]\n"

LARGE = "    large: {pools: {w: {machine: n1-standard-16, disk: {type: pd-ssd, sizeGb: 100}, replicas: 1}}}\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "train.py").write_text(dedent(TEMPLATE))
    (tmp_path / "jobs" / "train").mkdir(parents=True)
    for name in ("__init__.py", "task.py"):
        (tmp_path / "jobs" / "train" / name).touch()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(check, words)


def of(text: str) -> Result:
    """Check the stack as this file of prod has it."""
    Path("stacks/Pulumi.prod.yaml").write_text(text)
    return run("prod")


def test_good_stacks_are_a_line_each_with_price(checkout: Path, snapshot: SnapshotAssertion) -> None:  # D6, Z8
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(HEAD.replace("us-central1", "europe-west4"))
    (checkout / "stacks" / "Pulumi.eu.yaml").write_text(GOOD.replace("us-central1", "europe-west4"))
    result = run()
    assert result.exit_code == 0
    assert result.output == snapshot


def test_a_dated_cluster_is_counted_while_it_is_there(checkout: Path) -> None:  # D6, N13, Z8
    """As a review counts it: idle now, and at most what is there at once."""

    def price(*dates: str) -> str:
        pools = "pools: {workers: {machine: n1-standard-8, disk: {type: pd-ssd}, replicas: {min: 1, max: 4}}}"
        entries = "".join(f"    c{number}: {{{pools}, {date}}}\n" for number, date in enumerate(dates))
        head, config, _ = GOOD.partition("  slipway:persistentResources:\n")
        result = of(f"{head}{config}{entries}")
        assert result.exit_code == 0, result.output
        return result.output.rstrip().rpartition("  ")[2].partition(" (")[0]

    there, comes, over = 'from: "2020-01-01"', 'from: "2970-01-01"', 'until: "2020-01-01"'
    assert price(there) == "$0.46/h idle, $1.86/h at most"
    assert price(comes) == "$0.00/h idle, $1.86/h at most"
    assert price(over) == "$0.00/h", "nothing of it is there, nor comes"
    assert price(there, over) == price(there)
    assert price(there, comes) == "$0.46/h idle, $3.71/h at most"
    assert price(f'{there}, until: "2970-01-01"', comes) == price(there), "they take turns"
    assert price("id: team-a") == "$0.00/h", "an adopted cluster is its owner's"


def test_findings_of_all_stacks_come_at_once_and_exit_with_2(checkout: Path, snapshot: SnapshotAssertion) -> None:
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(
        GOOD.replace("n1-standard-8", "n1-standrd-8").replace("min: 1", "min: 0").replace("[train]", "[trian]")
    )
    result = run()
    assert result.exit_code == 2
    assert result.output == snapshot


def test_a_domain_is_told_to_be_everybody_in_it_and_passes(checkout: Path, snapshot: SnapshotAssertion) -> None:  # P5
    open_to_all = GOOD + '  slipway:workspace:\n    submitters: ["domain:acme.example"]\n'
    result = of(open_to_all)
    assert result.exit_code == 0
    assert result.output == snapshot
    document = json.loads(run("--output", "json").stdout)
    assert document["ok"] and document["findings"] == []
    assert [(warning["line"], warning["key"]) for warning in document["warnings"]] == [
        (13, "slipway:workspace.submitters[0]")
    ]
    result = of(open_to_all.replace("min: 1", "min: 0"))
    assert result.exit_code == 2 and "warning: everybody" in result.output


def test_a_stack_by_name_or_by_file(checkout: Path) -> None:
    (checkout / "elsewhere.yaml").write_text(HEAD)
    assert run("prod").output.startswith("ok  prod")
    assert run("elsewhere.yaml").output.startswith("ok  elsewhere")
    result = run("prodd")
    assert isinstance(result.exception, ConfigError)
    assert "prod" in result.exception.why and result.exception.fix == "slipway check prod"


def test_a_folder_without_stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run()
    assert isinstance(result.exception, ConfigError) and "no stack file here" in result.exception.what


MANY = ", ".join(f'"V{number}": "1"' for number in range(100))


@pytest.mark.parametrize(
    ("file", "was", "now", "said"),
    [
        ("stacks/Pulumi.prod.yaml", "[train]", "[trian]", "no template 'trian'"),
        ("stacks/Pulumi.prod.yaml", "n1-standard-8", "n1-standard-4", "template train fits no pool"),
        ("templates/train.py", "capacity_types=", 'trainer="eval", capacity_types=', "trainer eval, which"),
        ("templates/train.py", '"n1-standard-8"', '"small"', "names machine 'small', which stack prod does not have"),
        ("templates/train.py", "train.task", "train.tusk", "no module train.tusk"),
        ("jobs/train/task.py", "", "print('a'", "jobs/train/task.py:1: '(' was never closed"),
        (
            "templates/train.py",
            "capacity_types=",
            f"env={{{MANY}}}, capacity_types=",
            "101 environment variables",
        ),
        ("templates/train.py", '"Trains"', "5", "5 is not a string"),
        ("templates/train.py", "TEMPLATE =", "TEMPLATE = 1/0 +", "ZeroDivisionError"),
    ],
)
def test_what_a_deployment_would_refuse_of_a_template_is_said_at_its_line(
    checkout: Path, file: str, was: str, now: str, said: str
) -> None:  # D3, N5, P2, P5
    path = checkout / file
    path.write_text(path.read_text().replace(was, now))
    result = run()
    assert result.exit_code == 2 and "Pulumi.prod.yaml:11  slipway:templates[0]: " in result.output
    assert said in result.output, result.output


def test_a_machine_s_key_is_each_stack_s_own_and_each_stack_says_what_breaks_there(checkout: Path) -> None:  # D3, D6
    template = checkout / "templates" / "train.py"
    template.write_text(template.read_text().replace('"n1-standard-8"', '"small"'))
    small = "  slipway:machines: {small: n1-standard-4, gpu: {machine: n1-standard-8, disk: {type: pd-ssd}}}\n"
    files = {
        "dev": GOOD.replace("n1-standard-8", "n1-standard-4") + small,
        "eu": GOOD + small,
        "jp": GOOD.replace("n1-standard-8", "n1-standard-4"),
        "prod": GOOD + small.replace("n1-standard-4", "n1-standard-8"),
        "us": GOOD + small.replace("small:", "smal:"),
    }
    for name, text in files.items():
        (checkout / "stacks" / f"Pulumi.{name}.yaml").write_text(text)
    said = run().output
    assert "ok  dev " in said and "ok  prod" in said and "3 errors in 3 of 5 stack files" in said
    assert "Pulumi.eu.yaml:11  slipway:templates[0]: template train fits no pool of this stack" in said
    assert "Pulumi.us.yaml:11  slipway:templates[0]: template train names machine 'small', which stack us " in said
    assert "did you mean `smal`?" in said and "declare it: slipway:machines: {small: n1-standard-4}" in said


def test_a_team_s_machine_is_proven_on_the_pools_that_the_team_may_use(checkout: Path) -> None:  # D3, D6, N3
    template = checkout / "templates" / "train.py"
    template.write_text(template.read_text().replace('"n1-standard-8"', '"small"'))
    more = (
        "  slipway:machines: {small: n1-standard-8}\n"
        "  slipway:teams:\n"
        "    vision: {submitters: ['user:ada@acme.example'], machines: {small: n1-standard-16}}\n"
        "    audio: {submitters: ['user:bob@acme.example']}\n"
    )
    large = GOOD.replace("  slipway:templates", f"{LARGE}  slipway:templates") + more
    nowhere = of(GOOD + more)
    assert nowhere.exit_code == 2
    assert "template train fits no pool of this stack on the machines of team vision" in nowhere.output
    assert "workers needs machine n1-standard-16" in nowhere.output
    assert "fix: name a machine of such a pool under slipway:teams.vision.machines" in nowhere.output
    assert "slipway:teams.vision.machines.small: template train fits no pool" in nowhere.output, "that was edited"
    assert "nearest pool cpu/" in nowhere.output
    eyes = LARGE.replace("large:", "eyes:").replace("n1-standard-16", "n1-standard-4")
    with_eyes = more.replace(", machines: ", ", clusters: [eyes], machines: ")
    own = of(GOOD.replace("  slipway:templates", f"{eyes}  slipway:templates") + with_eyes)
    assert own.exit_code == 2 and "nearest pool eyes/" in own.output, "the team's own"
    assert of(large).exit_code == 0
    audio_s = of(large.replace("bob@acme.example']", "bob@acme.example'], clusters: [large]"))
    assert audio_s.exit_code == 2 and "train fits no pool that team vision may use" in audio_s.output
    assert ", takes jobs of team audio alone" in audio_s.output
    # Nobody submits another team's template, nor one of a trainer whose submitters are others.
    template.write_text(template.read_text().replace("capacity_types=", 'labels={"team": "audio"}, capacity_types='))
    assert of(GOOD + more).exit_code == 0
    template.write_text(template.read_text().replace('labels={"team": "audio"}', 'trainer="evals"'))
    trainers = "  slipway:trainers: {evals: {submitters: ['user:eve@acme.example']}}\n"
    assert of(GOOD + more + trainers).exit_code == 0
    assert of(GOOD + more + trainers.replace("user:eve", "group:vision")).exit_code == 2, "the team by its name"


def test_json_and_the_schema_stand_alone_on_stdout(checkout: Path) -> None:
    assert run("--schema").output == schema_text()
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(with_config("slipway:quota: {mode: request}"))
    result = run("--output", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 2 and (document["schema"], document["kind"]) == (2, "check") and not document["ok"]
    assert document["stacks"][1] == {
        "stack": "prod",
        "file": "stacks/Pulumi.prod.yaml",
        "ok": True,
        "project": "acme-ml-prod",
        "region": "us-central1",
        "clusters": {"cpu": ["workers"]},
        "templates": ["train"],
        "floorPerHour": "0.4637777",
        "ceilingPerHour": "1.8551108",
        "priceComplete": True,
    }
    (finding,) = document["findings"]
    assert (finding["file"], finding["line"], finding["key"]) == ("stacks/Pulumi.dev.yaml", 5, "slipway:quota.mode")


def test_a_template_that_fits_only_some_alternatives_is_told_and_is_no_error(checkout: Path) -> None:  # N2
    other = "      alternatives: [{pools: {workers: {machine: n1-standard-16, replicas: 2}}}]\n"
    result = of(GOOD.replace("  slipway:templates", f"{other}  slipway:templates"))
    assert result.exit_code == 0, result.output
    assert (
        "warning: train can't run" in result.output
        and "alternative 1: worker pool workers needs machine" in result.output
    )
    # The same in another region, which is named.
    elsewhere = other.replace("[{", "[{region: us-east4, ")
    result = of(GOOD.replace("  slipway:templates", f"{elsewhere}  slipway:templates"))
    assert "1 in us-east4: worker pool workers needs" in result.output
    assert "us-central1 (alternatives in us-east4)" in result.output
    assert json.loads(run("--output", "json").stdout)["stacks"][-1]["otherRegions"] == ["us-east4"]
    # One that fits the alternative alone is no error either.
    turned = GOOD.replace("machine: n1-standard-8", "machine: n1-standard-16")
    other = other.replace("n1-standard-16", "n1-standard-8")
    result = of(turned.replace("  slipway:templates", f"{other}  slipway:templates"))
    assert result.exit_code == 0, result.output
    assert "cpu as asked for first" in result.output


@pytest.mark.parametrize(
    ("season", "warned"), [("", True), (', from: "2970-01-01"', True), (', until: "2020-01-01"', False)]
)
def test_a_pool_that_no_template_fits_is_a_warning_while_it_may_be_there(
    checkout: Path, season: str, warned: bool
) -> None:  # N5
    spare = f"    spare: {{pools: {{all: {{machine: n1-standard-4, replicas: 1}}}}{season}}}\n"
    result = of(GOOD.replace("  slipway:persistentResources:\n", f"  slipway:persistentResources:\n{spare}"))
    assert result.exit_code == 0
    assert ("slipway:persistentResources.spare.pools.all: warning: no job" in result.output) is warned


def test_all_errors_come_at_once_in_the_order_of_the_lines() -> None:
    text = with_config(
        """
        slipway:quota: { mode: request }
        slipway:persistentResources:
          cpu:
            replacement: recreate
            pools:
              workers: { machine: n1-standrd-8, disk: {type: ssd}, replicas: {min: 0, max: 4} }
              head: { machine: n1-standard-4, replicas: three, disc: {} }
              head: { machine: n1-standard-4, replicas: 1 }
        """,
        head=HEAD.replace("us-central1", "us-centrall"),
    )
    findings = wrong(text)
    lines = [finding.line for finding in findings]
    assert lines == sorted(lines) and set(lines) == {3, 5, 8, 10, 12} and lines.count(10) == 3


@pytest.mark.parametrize("reservation", ['"any"', '"h100"'])
def test_a_template_that_no_capacity_type_of_the_stack_can_run_is_refused_before_a_deployment_is(
    checkout: Path, reservation: str
) -> None:  # D6
    """Its deployment would end: a job's machines come from a reservation that the stack does not declare."""
    template, plain = checkout / "templates" / "train.py", dedent(TEMPLATE)
    reserved = plain.replace("replicas=1", f"replicas=1, reservation={reservation}")
    template.write_text(reserved.replace('("pool",)', '("reservation",)'))
    result = of(GOOD)
    assert result.exit_code == 2 and "train can't run by any of its capacity types" in result.output
    assert "reservation: the stack declares no reservation" in result.output
    warned = of(f"{GOOD}  slipway:quota: {{mode: warn}}\n")
    assert warned.exit_code == 0 and "warning: train can't run by any of its capacity types" in warned.output
    template.write_text(reserved.replace('("pool",)', '("reservation", "on-demand")'))
    assert of(GOOD).exit_code == 0
    path = "projects/acme-ml-prod/zones/us-central1-a/reservations/h100"
    template.write_text(reserved.replace('("pool",)', '("reservation",)'))
    assert of(f"{GOOD}  slipway:reservations: {{h100: {{path: {path}}}}}\n").exit_code == 0


def test_a_template_that_can_not_run_with_its_defaults_is_refused_as_its_review_is_stopped(checkout: Path) -> None:
    """A submission without parameters would find no pool; a variant of it would."""  # D6
    small = 'WorkerPool(role="workers", machine="n1-standard-8", disk=Disk("pd-ssd", 100), replicas=1)'
    large = small.replace("n1-standard-8", "n1-standard-16")
    other = f"variants=(Variant({{'size': 'small'}}, ({small},)),), capacity_types="
    sizes = 'parameters=(Parameter("size", str, default="large", choices=("small", "large")),), '
    template, text = checkout / "templates" / "train.py", dedent(TEMPLATE)
    text = text.replace("JobTemplate, Package,", "JobTemplate, Package, Parameter, Variant,")
    text = text.replace(small, large).replace("capacity_types=", f"{sizes}{other}")
    template.write_text(text)
    result = of(GOOD)
    assert result.exit_code == 2, result.output
    told = "train can't run with its defaults\n    pool (size=large): fits no pool of this stack"
    assert f"slipway:templates[0]: {told}" in result.output
    assert "n1-standard-16" in result.output and "size=small" not in result.output
    template.write_text(text.replace('default="large"', 'default="small"'))
    assert of(GOOD).exit_code == 0
    template.write_text(text.replace('("pool",)', '("pool", "spot")'))
    assert of(GOOD).exit_code == 0, "spot machines are another way to run"


def test_a_template_whose_pool_is_out_of_season_is_a_warning(checkout: Path) -> None:  # D6
    """Nothing was said of it, and each submission waits for a month that nobody had in mind."""
    later = GOOD.replace("      pools:", '      from: "2970-01-01"\n      pools:')
    result = of(later)
    assert result.exit_code == 0, result.output
    told = "slipway:templates[0]: warning: train can't run for now\n    cluster cpu is out of season until 2970-01-01"
    assert told in result.output
    template = checkout / "templates" / "train.py"
    template.write_text(dedent(TEMPLATE).replace('("pool",)', '("pool", "on-demand")'))
    assert "can't run" not in of(later).output, "machines of its own are another way to run"


def test_a_prebuilt_image_that_can_not_run_on_its_gpus_is_refused_unless_the_code_brings_a_newer_framework(
    checkout: Path,
) -> None:  # D6, N3
    """PyTorch 2.4 knows no B200: the job would start, be paid for, and fail at its first tensor."""
    b200 = dedent(TEMPLATE).replace("n1-standard-8", "a4-highgpu-8g").replace("pd-ssd", "hyperdisk-balanced")
    template = checkout / "templates" / "train.py"
    template.write_text(
        b200.replace("training/sk:", "training/pytorch-gpu.2-4.py310:").replace('("pool",)', '("spot",)')
    )
    result = of(GOOD)
    assert result.exit_code == 2 and "template train would fail on its machines" in result.output
    assert "image pytorch-gpu.2-4.py310 can't run on NVIDIA_B200: its torch 2.4" in result.output
    (checkout / "jobs" / "train" / "requirements.txt").write_text("torch==2.9.1\n")
    assert of(GOOD).exit_code == 0


def test_a_prebuilt_image_past_its_last_day_is_a_warning_if_there_is_a_newer_one(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = checkout / "templates" / "train.py"
    told = {}
    for version, year, month, day in [("1-0", 2025, 6, 30), ("1-0", 2025, 7, 1), ("1-6", 2027, 1, 1)]:
        template.write_text(dedent(TEMPLATE).replace("training/sk:", f"training/sklearn-cpu.{version}:"))
        now = datetime(year, month, day, tzinfo=UTC)
        monkeypatch.setattr(check_module, "Clock", lambda now=now: Clock(now=lambda: now))
        told[month] = of(GOOD).output
    since = "slipway:templates[0]: warning: train: image sklearn-cpu.1-0 has had no security updates since 2024-06-30"
    gone = "slipway:templates[0]: warning: train: image sklearn-cpu.1-0 may be gone: Google's list offered it until"
    assert since in told[6] and gone in told[7]  # D6, N3
    assert "fix: training/sklearn-cpu.1-6, the newest of Google's list, or an image of your own" in told[7]
    assert "sklearn-cpu" not in told[1]  # Nothing of the list is newer.


BREACHES = {
    "labels: [team]": "labels: cluster cpu: label team is missing",
    "protection: true": "",
    "idleCost: 0.1": "idleCost: the stack: $0.46/h at its smallest, at most $0.10/h is allowed",
    "imagesByDigest: true": "imagesByDigest: template train (pool): image us-docker.pkg.dev/",
    "regions: [europe-west4]": "regions: region us-central1: allowed are europe-west4",
    "quotaHeadroom: 20": "",  # no file tells a limit
}


@pytest.mark.parametrize(("rule", "said"), BREACHES.items(), ids=[rule.partition(":")[0] for rule in BREACHES])
def test_a_stack_that_breaks_a_mandatory_rule_of_its_own_is_refused_at_that_rule_s_line(
    checkout: Path, rule: str, said: str
) -> None:  # D6, P3
    """The check of a stack that no deployment takes was `ok`."""
    result = of(f"{GOOD}  slipway:policy:\n    mandatory: {{ {rule} }}\n")
    assert result.exit_code == (2 if said else 0), result.output
    assert not said or f"stacks/Pulumi.prod.yaml:13  slipway:policy.mandatory.{said}" in result.output
    warned = of(f"{GOOD}  slipway:policy:\n    advisory: {{ {rule} }}\n")
    assert warned.exit_code == 0
    assert not said or f"slipway:policy.advisory.{rule.partition(':')[0]}: warning: " in warned.output


def test_a_rule_counts_clusters_that_are_there_or_come_and_is_told_beside_other_mistakes(checkout: Path) -> None:  # P3
    rule = "  slipway:policy: { mandatory: { labels: [team] } }\n"
    spare = "    spare: {pools: {all: {machine: n1-standard-8, replicas: 1}}, labels: {team: a}, until: 2020-01-01}\n"
    config = GOOD.replace("  slipway:persistentResources:\n", f"  slipway:persistentResources:\n{spare}")
    bare = config.replace("labels: {team: a}, ", "")
    assert "spare" not in of(f"{bare}{rule}").output
    coming = bare.replace("until: 2020-01-01", "from: 2970-01-01")
    assert "cluster spare: label team is missing" in of(f"{coming}{rule}").output
    both = of(f"{coming}{rule}".replace("[train]", "[trian]")).output
    assert "no template 'trian'" in both and "cluster cpu: label team is missing" in both


@pytest.mark.parametrize("call", ["deploy(__file__, stack=edit)", "program.deploy(__file__, edit)"])
def test_a_program_that_edits_the_stack_is_said_to_be_left_out(checkout: Path, call: str) -> None:  # D6
    program = checkout / "__main__.py"
    program.write_text("deploy(__file__)\n")
    assert "__main__" not in of(GOOD).output
    program.write_text(f"def edit(stack):\n    return stack\n\n\n{call}\n")
    result = of(GOOD)
    assert result.exit_code == 0
    assert "__main__.py:5  warning: the program edits stack prod, and this check is of its file alone" in result.output
    assert "fix: make preview STACK=prod checks what is deployed" in result.output
    program.write_text("deploy(__file__, stack=")
    assert of(GOOD).exit_code == 0, "the engine tells a program's own mistakes"


def test_an_environment_is_an_error_if_the_backend_is_not_pulumi_cloud(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{GOOD}environment: [acme/dev]\n"
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    assert of(text).exit_code == 0 and "environment: warning: needs Pulumi Cloud" in of(text).output
    (checkout / "Pulumi.yaml").write_text("name: acme\nruntime: python\nbackend: {url: 'gs://acme-state'}\n")
    assert of(text).exit_code == 2 and "the backend is gs://acme-state" in of(text).output
    monkeypatch.setenv("PULUMI_BACKEND_URL", "https://api.pulumi.com")
    assert of(text).exit_code == 0 and "environment" not in of(text).output
