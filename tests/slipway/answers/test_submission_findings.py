"""How severe the changes of submissions are, and how both sides are shown."""

from dataclasses import replace
from datetime import timedelta

from slipway.base.formatting import sides
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.catalog.template import Parameter, Template
from slipway.model.findings.finding import Grade
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.machines.spec import MachineSpec
from slipway.model.season import Season
from tests.slipway.answers.test_submissions import BOTH, found, jobs, of
from tests.slipway.reviewing import builders
from tests.slipway.reviewing.builders import CPU, NOW, cluster, facts, offer, pool, template, worker_pool

A100 = MachineSpec("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1)
L4 = MachineSpec("g2-standard-12", "NVIDIA_L4", 1)
GPU_IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:1"


def with_env(**env: str) -> Template:
    """Return a template whose job gets these variables."""
    return template("lora", offer(request=builders.request(worker_pool(CPU, env=env))))


def on_spot(machine: MachineSpec, image: str = GPU_IMAGE) -> Template:
    body = builders.request(worker_pool(machine, image=image), capacity_type="spot")
    return template("lora", offer("spot", machine=machine, request=body))


def dormant(name: str, days: int) -> DormantCluster:
    season = Season(begins=NOW + timedelta(days=days))
    return DormantCluster(name=name, pools=(pool(),), id=f"{name}-1", season=season)


def test_another_account_blocks() -> None:
    told = found(of(offer()), of(offer(), serviceAccount="other@acme.example"))["submission-changed"]
    assert told.grade is Grade.BLOCKING


def test_a_lost_secret_blocks_and_its_value_is_hidden() -> None:
    by_reference = with_env(KEY__SECRET="projects/p/secrets/judge/versions/latest")
    told = found(facts(by_reference), facts(with_env(KEY="plain")))["submission-changed"]
    assert told.grade is Grade.BLOCKING
    assert told.sentence == (
        "all submissions: no longer get secret `judge/versions/latest` as `KEY`; also set `KEY` to `(hidden)`"
    )
    assert found(facts(with_env(KEY="a")), facts(with_env(KEY="b")))["submission-changed"].grade is Grade.WARNING


def test_less_gpu_memory_and_images_for_cpus_are_named() -> None:
    told = found(facts(on_spot(A100)), facts(on_spot(L4)))["submission-changed"]
    assert told.grade is Grade.WARNING
    machines = "need 1 × g2-standard-12, not 1 × a2-highgpu-1g"
    assert told.sentence.startswith(f"all submissions: {machines}; have 24 GB of GPU memory, not 40 GB")
    told = found(facts(on_spot(A100)), facts(on_spot(A100, GPU_IMAGE.replace("gpu", "cpu"))))["submission-changed"]
    assert told.sentence.startswith("all submissions: have an image for CPUs")


def test_an_experiment_and_a_restart_of_one_machine_are_notes() -> None:
    restarted = of(offer(), scheduling={"restartJobOnWorkerRestart": True, "timeout": "86400s"})
    assert found(of(offer()), restarted)["submission-changed"].grade is Grade.NOTE
    together = offer(
        "spot",
        roles=("head", "worker"),
        request=builders.request(worker_pool(CPU), worker_pool(CPU), capacity_type="spot"),
    )
    restarted = of(together, scheduling={"restartJobOnWorkerRestart": True, "strategy": "SPOT", "timeout": "86400s"})
    assert found(of(together), restarted)["submission-changed"].grade is Grade.WARNING


def test_another_wait_is_told() -> None:
    old, new = (facts(template("lora", offer("spot", wait=wait), offer())) for wait in (7200.0, 60.0))
    told = found(old, new)["submission-changed"]
    assert told.sentence == "default submissions: `waits for capacity types` spot 2 h → spot 1 min"
    assert told.grade is Grade.WARNING


def test_a_shell_is_access() -> None:
    told = found(of(offer()), of(offer(), enableWebAccess=True))
    assert list(told) == ["access-gained"]
    assert "act as `" in told["access-gained"].sentence


def test_a_kind_of_job_that_was_used_blocks() -> None:
    tuned = offer(kind="hyperparameter-tuning-job")
    both = template("lora", tuned, offer(), kinds=("hyperparameter-tuning-job", "custom-job"))
    one = template("lora", tuned, kinds=("hyperparameter-tuning-job",))
    used = jobs(on="cpu-1", kind=CUSTOM_JOB)
    told = found(facts(both), facts(one), recent=used)["submission-rejected"]
    assert told.grade is Grade.BLOCKING
    assert "`--as custom-job`" in told.sentence


def test_dates_alone_are_announced_and_edited_dates_block() -> None:
    only = facts(template("lora", offer()), cluster("cpu", pool()), cluster("other", pool()))
    waits = template("lora", offer(available=False, dormant="cpu", cluster=""))
    asleep = facts(waits, cluster("other", pool()), dormant={"cpu": dormant("cpu", 20)})
    assert found(only, asleep)["no-offer-left"].grade is Grade.BLOCKING
    season = dormant("cpu", 20).season
    dated = facts(template("lora", offer()), replace(cluster("cpu", pool()), season=season), cluster("other", pool()))
    told = found(dated, asleep)["no-offer-left"]
    assert told.grade is Grade.WARNING
    assert told.grade in KINDS[told.kind].announced


def test_an_edit_is_never_announced() -> None:
    for told in found(facts(BOTH), of(offer(), serviceAccount="other@acme.example")).values():
        assert told.grade not in KINDS[told.kind].announced
    assert KINDS["cluster-replaced"].announced == KINDS["cluster-deleted"].announced == (Grade.NOTE,)


def test_both_sides_are_cut_to_where_they_differ() -> None:
    assert sides("pool then spot then on-demand", "spot then on-demand") == ("pool then spot", "spot")
    assert sides("spot then a then x", "spot then b then x") == ("…a", "…b")
    assert sides("1 GB", "2 GB") == ("1 GB", "2 GB")
    for end in ("", " second"):
        one, other = sides(f"{'a' * 80} first", f"{'a' * 80}{end}", 20)
        assert one != other
        assert max(len(one), len(other)) <= 22


def test_a_sentence_names_the_submission_that_changes() -> None:
    model = Parameter("model", "str", "9b", choices=("9b", "27b"))
    usual = offer("spot", when={"model": ("9b",)})
    small, large = (offer("spot", machine=machine, when={"model": ("27b",)}) for machine in (CPU, A100))
    old, new = (template("lora", usual, each, parameters=(model,)) for each in (small, large))
    told = found(facts(old), facts(new))["submission-changed"]
    assert told.sentence.startswith("`-p model=27b`: cost $2.51/h, not $0.22/h; need 1 × a2-highgpu-1g, not 1 × n1")
    assert "default submissions" not in " ".join((told.sentence, *told.details))
    told = found(facts(old), facts(replace(new, checkpoints=True)))["submission-changed"]
    assert told.sentence.startswith("`-p model=27b`: cost $2.51/h, not $0.22/h"), "a much higher price"
    assert "now resume from checkpoints" in told.details


def test_only_jobs_that_can_run_on_a_pool_yield() -> None:
    for only, yields in ((offer(), True), (offer("spot"), False)):
        old = template("lora", only)
        told = found(facts(old), facts(replace(old, yields=True, checkpoints=True)))["submission-changed"]
        assert ("`yields to urgent jobs` no → yes" in told.sentence) is yields
