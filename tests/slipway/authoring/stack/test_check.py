"""A stack file is checked as a whole, and each finding said at its line."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.structure import schema_text
from slipway.authoring.stack.yaml_file import StackErrors
from slipway.base.errors import ConfigError
from slipway.front.cli.check import command as check

from .files import HEAD, read, with_config, with_pool, wrong

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


def with_template(old: str, new: str) -> None:
    template = Path("templates/train.py")
    template.write_text(template.read_text().replace(old, new))


def test_good_stacks_are_a_line_each_with_price(checkout: Path, snapshot: SnapshotAssertion) -> None:  # D6, Z8
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(HEAD.replace("us-central1", "europe-west4"))
    (checkout / "stacks" / "Pulumi.eu.yaml").write_text(GOOD.replace("us-central1", "europe-west4"))
    result = run()
    assert result.exit_code == 0
    assert result.output == snapshot


def test_a_dated_cluster_is_counted_while_it_is_there(checkout: Path) -> None:  # D6, Z8
    """As a review counts it: idle now, and at most what is there at once."""

    def price(*dates: str) -> str:
        pools = "pools: {workers: {machine: n1-standard-8, disk: {type: pd-ssd}, replicas: {min: 1, max: 4}}}"
        entries = "".join(f"    c{number}: {{{pools}, {one}}}\n" for number, one in enumerate(dates))
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


def test_a_pool_whose_season_is_over_is_no_waste(checkout: Path) -> None:
    pools = "pools: {workers: {machine: n1-standard-16, replicas: 2}}"
    for dates, warned in (('from: "2970-01-01"', True), ('until: "2020-01-01"', False)):
        found = of(GOOD.replace("    cpu:\n", f"    other: {{{pools}, {dates}}}\n    cpu:\n"))
        assert ("warning: no job can run" in found.output) is warned


def test_an_adopted_cluster_is_in_no_price(checkout: Path) -> None:  # N13
    entry = "\n  slipway:persistentResources:\n    theirs:\n      id: team-a\n"
    pools = "      pools: {workers: {machine: n1-standard-8, disk: {type: pd-ssd}, replicas: {min: 1, max: 4}}}\n"
    rest = "  slipway:templates: [train]\n"
    found = of(f"{GOOD.partition('slipway:persistentResources')[0].rstrip()}{entry}{pools}{rest}")
    assert found.output.rstrip().endswith(" 1 pool, 1 template  $0.00/h")


def test_findings_of_all_stacks_come_at_once_and_exit_with_2(checkout: Path, snapshot: SnapshotAssertion) -> None:
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(
        GOOD.replace("n1-standard-8", "n1-standrd-8").replace("min: 1", "min: 0")
    )
    result = run()
    assert result.exit_code == 2
    assert result.output == snapshot


def test_a_domain_is_told_to_be_everybody_in_it_and_passes(checkout: Path, snapshot: SnapshotAssertion) -> None:  # P5
    open_to_all = GOOD + '  slipway:workspace:\n    submitters: ["domain:acme.example"]\n'
    result = of(open_to_all)
    assert result.exit_code == 0
    assert result.output == snapshot
    found = json.loads(run("--output", "json").stdout)
    assert found["ok"] and found["findings"] == []
    assert [(one["line"], one["key"]) for one in found["warnings"]] == [(13, "slipway:workspace.submitters[0]")]
    result = of(open_to_all.replace("min: 1", "min: 0"))
    assert result.exit_code == 2 and "warning: everybody" in result.output


@pytest.mark.parametrize(
    ("gone", "why"), [("__init__.py", "no import package in jobs/train"), ("task.py", "no module train.task")]
)
def test_a_template_without_its_code_is_found_before_a_job_is(checkout: Path, gone: str, why: str) -> None:  # N5
    (checkout / "jobs" / "train" / gone).unlink()
    result = run()
    assert result.exit_code == 2 and why in result.output


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


def test_a_template_that_is_not_there(checkout: Path) -> None:  # D3
    mistyped = GOOD.replace("[train]", "[trian]")
    result = of(mistyped)
    assert result.exit_code == 2
    assert "Pulumi.prod.yaml:11  slipway:templates[0]: there is" in result.output
    assert "no template 'trian'" in result.output and "did you mean `train`?" in result.output
    assert "2 errors" in of(mistyped.replace("min: 1", "min: 0")).output  # beside what else is wrong


def test_a_template_whose_trainer_is_not_there(checkout: Path) -> None:  # P5
    with_template("capacity_types=", 'trainer="eval", capacity_types=')
    result = of(GOOD + "  slipway:trainers: {evals: {}}\n")
    assert result.exit_code == 2
    assert "Pulumi.prod.yaml:11  slipway:templates[0]: template train" in result.output
    assert "trainer eval, which" in result.output and "did you mean trainer='evals'?" in result.output
    with_template('"eval"', '"evals"')
    assert run().exit_code == 0


def test_a_template_that_fits_no_pool_is_shown_field_by_field(checkout: Path) -> None:  # P2
    result = of(GOOD.replace("machine: n1-standard-8", "machine: n1-standard-4"))
    assert result.exit_code == 2
    assert "template train fits no pool" in result.output
    assert "n1-standard-8" in result.output and "has n1-standard-4" in result.output


@pytest.mark.parametrize("count", [99, 100])
def test_what_preview_would_refuse_for_a_rule_is_said_here(checkout: Path, count: int) -> None:
    """The parameters take one variable of the hundred."""
    with_template("capacity_types=", f'env={{f"V{{one}}": "1" for one in range({count})}}, capacity_types=')
    result = run()
    assert result.exit_code == (0 if count == 99 else 2), result.output
    if count > 99:
        said = f"worker pool 0: {count + 1} environment variables, SLIPWAY_PARAMETERS among them; at most 100"
        assert "Pulumi.prod.yaml:11  slipway:templates[0]: template train: " in result.output and said in result.output
        assert "fix: correct templates/train.py\n" in result.output and "capacity_types" not in result.output


def test_what_nobody_could_submit_by_is_said_here(checkout: Path) -> None:
    with_template('summary="Trains"', "summary=5")
    result = run()
    assert result.exit_code == 2 and "5 is not a string" in result.output


@pytest.mark.parametrize("code", ["1/0", "TEMPLATE = 1", "def ("])
def test_a_template_that_cannot_be_loaded(checkout: Path, code: str) -> None:
    (checkout / "templates" / "train.py").write_text(code)
    result = run()
    assert result.exit_code == 2 and "slipway:templates[0]" in result.output and "train.py" in result.output


def test_json_stands_alone_on_stdout(checkout: Path) -> None:
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(with_config("slipway:quota: {mode: request}"))
    result = run("--output", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 2 and (found["schema"], found["kind"]) == (2, "check") and not found["ok"]
    assert found["stacks"][1] == {
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
    (finding,) = found["findings"]
    assert (finding["file"], finding["line"], finding["key"]) == ("stacks/Pulumi.dev.yaml", 5, "slipway:quota.mode")


def test_the_schema_is_printed(checkout: Path) -> None:
    assert run("--schema").output == schema_text()


def test_a_template_that_fits_only_some_alternatives_is_told_and_is_no_error(checkout: Path) -> None:  # N2
    other = "      alternatives: [{pools: {workers: {machine: n1-standard-16, replicas: 2}}}]\n"
    result = of(GOOD.replace("  slipway:templates", f"{other}  slipway:templates"))
    assert result.exit_code == 0, result.output
    assert "warning: train can't run" in result.output and "alternative 1: workers needs machine" in result.output
    # The same in another region, which is named.
    elsewhere = other.replace("[{", "[{region: us-east4, ")
    result = of(GOOD.replace("  slipway:templates", f"{elsewhere}  slipway:templates"))
    assert "1 in us-east4: workers needs" in result.output
    assert "us-central1 (alternatives in us-east4)" in result.output
    assert json.loads(run("--output", "json").stdout)["stacks"][-1]["otherRegions"] == ["us-east4"]
    # One that fits the alternative alone is no error either.
    turned = GOOD.replace("machine: n1-standard-8", "machine: n1-standard-16")
    other = other.replace("n1-standard-16", "n1-standard-8")
    result = of(turned.replace("  slipway:templates", f"{other}  slipway:templates"))
    assert result.exit_code == 0, result.output
    assert "cpu as asked for first" in result.output


def test_a_pool_that_no_template_fits_is_a_warning(checkout: Path) -> None:  # N5
    spare = "    spare: { pools: { all: { machine: n1-standard-4, replicas: 1 } } }\n"
    result = of(GOOD.replace("  slipway:persistentResources:\n", f"  slipway:persistentResources:\n{spare}"))
    assert result.exit_code == 0
    assert "slipway:persistentResources.spare.pools.all: warning: no job" in result.output
    assert "a month" in result.output


POOL = "slipway:persistentResources.cpu.pools.workers"


def test_all_errors_come_at_once_in_the_order_of_the_lines() -> None:
    text = with_config(
        """
        slipway:quota: { mode: request }
        slipway:persistentResources:
          cpu:
            replacement: recreate
            pools:
              workers: { machine: n1-standrd-8, disk: {type: ssd, sizeGb: 50}, replicas: {min: 0, max: 4} }
              head: { machine: n1-standard-4, replicas: three, disc: {} }
              head: { machine: n1-standard-4, replicas: 1 }
          Gpu: {}
        """,
        head=HEAD.replace("us-central1", "us-centrall"),
    )
    findings = wrong(text)
    assert [finding.line for finding in findings] == sorted(finding.line for finding in findings)
    cpu, pools = "slipway:persistentResources.cpu", "slipway:persistentResources.cpu.pools"
    assert {(finding.line, finding.key) for finding in findings} == {
        (3, "gcp:region"),
        (5, "slipway:quota.mode"),
        (8, f"{cpu}.replacement"),
        (10, f"{pools}.workers.machine"),
        (10, f"{pools}.workers.disk.type"),
        (10, f"{pools}.workers.disk.sizeGb"),
        (10, f"{pools}.workers.replicas.min"),
        (12, f"{pools}.head"),
        (13, "slipway:persistentResources.Gpu"),
        (13, "slipway:persistentResources.Gpu.pools"),
    }


def test_the_message_reads_file_line_key_what_and_fix(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(StackErrors) as caught:
        read(with_pool("machine: n1-standrd-8\nreplicas: 1"))
    assert caught.value.exit_code == 2
    assert caught.value.render() == snapshot
