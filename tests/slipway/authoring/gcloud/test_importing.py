"""What an import changes, keeps, tells and refuses: inputs as people have them. # N13"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from slipway.authoring.gcloud.fields import JOB
from slipway.authoring.gcloud.importing import Imported, Naming, read
from slipway.authoring.gcloud.python_source import python_source
from slipway.authoring.gcloud.workers import UNPINNED
from slipway.authoring.stack.entries import ClusterEntry, EncryptionEntry
from slipway.authoring.stack.secrets import KEEP
from slipway.authoring.template.jobspec import LAUNCHER
from slipway.authoring.template.load import load
from slipway.base.codec import camel
from slipway.base.errors import ConfigError
from slipway.model.labels import IMAGE_START
from slipway.template import Disk, Image, JobTemplate, NfsMount, Package, Scheduling, WorkerPool

IMAGE = f"us-docker.pkg.dev/acme/x/train@sha256:{'a' * 64}"
CODE = f"containerSpec: {{imageUri: {IMAGE}"


def imported(text: str, folder: str = "jobs/trainer") -> Imported:
    return read(text, "job.yaml", Naming("imported", "of a file", folder))


def job(code: str = f"{CODE}}}", more: str = "", machine: str = "machineType: n1-standard-4", pool: str = "") -> str:
    """A job file of one worker pool, in which the code is on line 4."""
    return f"""\
workerPoolSpecs:
  - machineSpec: {{{machine}}}
    replicaCount: 1
    {code}
{pool}{more}
serviceAccount: train@acme.iam.gserviceaccount.com
"""


def output(uri: str) -> str:
    return f"baseOutputDirectory: {{outputUriPrefix: {uri}}}"


def notes(imported: Imported, *, about: str = "") -> list[str]:
    return [str(note) for note in imported.notes if about in note.text and "baseOutputDirectory" not in note.text]


@pytest.mark.parametrize(
    ("uri", "given", "becomes"),
    [
        ("gs://acme/runs/7", "--out=gs://acme/runs/7", "--out=${slipway.output}"),
        ("gs://acme/runs/7", "--out=gs://acme/runs/7/", "--out=${slipway.output}/"),
        ("gs://acme/runs/7", "--out=gs://acme/runs/7/model", "--out=${slipway.output}/model"),
        ("gs://acme/runs/7", "gs://acme/runs/7/checkpoints/last.pt", "${slipway.output}/checkpoints/last.pt"),
        ("gs://acme/runs/7", "${OUT:-gs://acme/runs/7}", "$${OUT:-${slipway.output}}"),
        ("gs://acme", "--out=gs://acme/model", "--out=${slipway.output}/model"),
    ],
)
def test_the_output_becomes_each_jobs_own_where_a_text_names_it(uri: str, given: str, becomes: str) -> None:
    result = imported(job(f"{CODE}, args: [{given!r}]}}", output(uri)))
    assert result.template.worker_pools[0].args == (becomes,)
    (told,) = notes(result)
    assert told.startswith("job.yaml:4  ") and " became ${slipway.output}" in told


CHECKPOINT = "gs://acme/runs/7/checkpoints/step-1000"


@pytest.mark.parametrize(
    "given",
    [
        f"--resume-from={CHECKPOINT}",
        f"--checkpoint={CHECKPOINT}",
        "--ckpt_path=gs://acme/runs/7/checkpoints/epoch=3-step=100.ckpt",
        "--checkpoint=gs://acme/runs/7/checkpoints/1000",
        "--restore_from=gs://acme/runs/7/checkpoints/last.pt",
        "--init_from=gs://acme/runs/7/model",
        "--base-model=gs://acme/runs/7/model/adapter",
        "python train.py --pretrained gs://acme/runs/7/model --lr 0.1",
        "INIT_CHECKPOINT=gs://acme/runs/7/checkpoints/best.pt python train.py",
        "gsutil -m cp -r gs://acme/runs/7/checkpoints/best /tmp/start",
    ],
)
def test_what_is_read_below_the_output_stays_and_is_told(given: str) -> None:
    """A new job's own output is empty: an earlier job wrote it."""
    result = imported(job(f"{CODE}, args: [{given!r}]}}", output("gs://acme/runs/7")))
    assert result.template.worker_pools[0].args == (given,)
    (told,) = notes(result)
    assert "stays, as it seems to be read; ${slipway.output}/" in told


@pytest.mark.parametrize(
    "given",
    [
        "--save-to=gs://acme/runs/7/checkpoints/step-1000",
        "--resume-from=gs://acme/runs/7/checkpoints",
        "--out=gs://acme/runs/7/model/1",
        "--model-dir=gs://acme/runs/7/model/1",
        "cp -r /tmp/best gs://acme/runs/7/model",
    ],
)
def test_what_a_job_writes_or_goes_on_from_is_its_own(given: str) -> None:
    """A job that is started again goes on from its own checkpoints."""
    result = imported(job(f"{CODE}, args: [{given!r}]}}", output("gs://acme/runs/7")))
    assert result.template.worker_pools[0].args == (given.replace("gs://acme/runs/7", "${slipway.output}"),)


@pytest.mark.parametrize(
    ("uri", "given"),
    [
        ("gs://acme-samples", "gs://acme-samples/input/train-data.csv"),
        ("gs://acme/runs/7", "gs://acme/runs/71/checkpoints"),
        ("gs://acme/runs/7", "gs://acme/runs/7/models/base"),
        ("gs://acme/runs/7", "/gcs/acme/runs/7/model"),
        ("gs://acme/runs/7", "gs://acme/runs/7/$NAME"),
    ],
)
def test_what_looks_like_the_output_stays_and_is_told(uri: str, given: str) -> None:
    """It may be an input beside the output, or below it."""
    result = imported(job(f"{CODE}, args: ['--from={given}'], env: [{{name: BASE, value: {given}}}]}}", output(uri)))
    assert result.template.worker_pools[0].args == (f"--from={given}",) and result.template.env == {"BASE": given}
    told = f"{given} stays, though it begins like the output {uri}"
    assert notes(result) == [f"job.yaml:4  BASE: {told}", f"job.yaml:4  --from: {told}"]


def test_another_place_is_no_matter() -> None:
    result = imported(
        job(f"{CODE}, args: ['--from=gs://data/runs/7', xgs://acme/runs/7]}}", output("gs://acme/runs/7"))
    )
    assert result.template.worker_pools[0].args == ("--from=gs://data/runs/7", "xgs://acme/runs/7")
    assert notes(result) == []


def test_no_reservation_is_none_and_a_spot_job_stays_one() -> None:
    path = "projects/p/zones/us-central1-a/reservations/r"
    named = f"SPECIFIC_RESERVATION, key: compute.googleapis.com/reservation-name, values: [{path}]"
    for kind, reservation, strategy in (
        ("NO_RESERVATION", None, "SPOT"),
        ("TYPE_UNSPECIFIED", None, "SPOT"),
        (named, path, "STANDARD"),
    ):
        machine = f"machineType: n1-standard-4, reservationAffinity: {{reservationAffinityType: {kind}}}"
        template = imported(job(machine=machine, more=f"scheduling: {{strategy: {strategy}}}")).template
        assert template.capacity_types == ("reservation" if reservation else "spot",)
        assert template.worker_pools[0].reservation == reservation


TOKENS = """\
workerPoolSpecs:
  - machineSpec: {machineType: n1-standard-4}
    replicaCount: 1
    {}
      env:
        - {name: HF_TOKEN, value: hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345}
        - {name: WANDB_API_KEY, value: 0123456789abcdef0123456789abcdef01234567}
        - {name: USE_TORCH_XLA, value: "0"}
serviceAccount: train@acme.iam.gserviceaccount.com
"""
TOLD = (
    "looks like a secret, and was not copied: `secrets` names {0}, to be made by "
    "`gcloud secrets create {0} --data-file=-`"
)
PACKAGE = """\
pythonPackageSpec:
      executorImageUri: us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-3.py310:latest
      packageUris: [gs://acme-training/code/trainer-0.1.tar.gz]
      pythonModule: trainer.finetune"""


def test_tokens_become_references_to_secrets_and_are_told() -> None:
    result = imported(TOKENS.replace("{}", PACKAGE))
    assert result.template.env == {"USE_TORCH_XLA": "0"}
    assert result.template.secrets == {"HF_TOKEN": "hf-token", "WANDB_API_KEY": "wandb-api-key"}
    source, said = python_source(result.template), notes(result)
    assert "hf_AbC" not in source and "0123456789" not in source + "".join(said)
    assert said == [
        "job.yaml:6  packageUris: gs://acme-training/code/trainer-0.1.tar.gz became the code in jobs/trainer",
        f"job.yaml:9  HF_TOKEN: {TOLD.format('hf-token')}",
        f"job.yaml:10  WANDB_API_KEY: {TOLD.format('wandb-api-key')}",
    ]
    of_an_image = imported(TOKENS.replace("{}", f"containerSpec:\n      imageUri: {IMAGE}"))
    assert "the code of an image finds its reference in HF_TOKEN__SECRET" in notes(of_an_image)[0]


def test_an_argument_that_may_be_a_secret_is_told() -> None:
    result = imported(job(f"{CODE}, args: ['--pad_token=PAD1', '--api-key', '$(KEY)']}}"))
    assert notes(result) == [f"job.yaml:4  --pad_token: is copied as it is; if it is a secret, {KEEP}"]
    env = "env: [{name: HF_TOKEN, value: hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345}]"
    result = imported(job(f"{CODE}, args: ['--hub=$(HF_TOKEN)'], {env}}}"))
    assert notes(result, about="--hub") == [
        "job.yaml:4  --hub: $(HF_TOKEN) is no variable of the job any more; its code reads HF_TOKEN itself"
    ]


KEY = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "args",
    [
        f"--wandb-key, {KEY}",
        f"--wandb-key={KEY}",
        f"'python train.py --wandb-key {KEY} --lr 0.1'",
        f"'WANDB_API_KEY={KEY} python train.py'",
        f"'--lr 0.1 --wandb_key=\"{KEY}\"'",
        "--password, hunter2",
    ],
)
def test_a_secret_in_the_arguments_is_refused_in_each_form(args: str) -> None:
    with pytest.raises(ConfigError, match="has a secret in plain text") as error:
        imported(job(f"{CODE}, args: [{args}]}}"))
    assert KEEP in error.value.why and KEY not in error.value.render() and "hunter2" not in error.value.render()


@pytest.mark.parametrize("args", ["--sort-key, created_at", "--api-key, $(KEY)", "'--token-key $KEY --x'", "--api-key"])
def test_a_name_or_a_reference_is_no_secret(args: str) -> None:
    assert notes(imported(job(f"{CODE}, args: [{args}]}}"))) == []


def test_a_secret_of_one_worker_pool_is_said_to_be_of_all() -> None:
    env = "env: [{name: HF_TOKEN, value: hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345}]"
    (alone,) = notes(imported(job(f"{CODE}, {env}}}", pool=second(""))), about="HF_TOKEN")
    (same,) = notes(imported(job(f"{CODE}, {env}}}", pool=second(env[6:-1]))), about="HF_TOKEN")
    assert alone == f"{same}; every worker pool gets it"


def test_variables_that_no_job_of_slipway_gets_are_left_out_and_told() -> None:
    variables = "{name: EMPTY, value: ''}, {name: SLIPWAY_PARAMETERS, value: '{}'}, {name: A, value: x}"
    result = imported(job(f"{CODE}, env: [{variables}]}}"))
    assert result.template.env == {"A": "x"}
    assert notes(result) == [
        "job.yaml:4  EMPTY: left out, as its value is empty",
        "job.yaml:4  SLIPWAY_PARAMETERS: left out, as each job has its own",
    ]


def second(env: str) -> str:
    return f"  - machineSpec: {{machineType: n1-standard-8}}\n    replicaCount: 3\n    {CODE}, env: [{env}]}}\n"


def test_each_worker_pool_keeps_its_environment() -> None:
    chief = f"{CODE}, env: [{{name: ROLE, value: a}}, {{name: MASTER, value: '1'}}]}}"
    template = imported(job(chief, pool=second("{name: ROLE, value: b}"))).template
    assert template.env == {} and [pool.env for pool in template.worker_pools] == [
        {"ROLE": "a", "MASTER": "1"},
        {"ROLE": "b"},
    ]
    same = imported(job(f"{CODE}, env: [{{name: A, value: a}}]}}", pool=second("{name: A, value: a}"))).template
    assert same.env == {"A": "a"} and [pool.env for pool in same.worker_pools] == [{}, {}]


def test_a_shell_reads_its_own_variables() -> None:
    script = "ROOT=/tmp; python ${ROOT}/a.py --out ${AIP_MODEL_DIR:-/tmp/out} $$ $(HOME) $${X}"
    template = imported(job(f"{CODE}, args: ['{script}']}}")).template
    escaped = script.replace("$${X}", "$$$${X}").replace("${ROOT", "$${ROOT").replace("${AIP", "$${AIP")
    assert template.worker_pools[0].args == (escaped,)


def test_what_a_client_writes_for_nothing_is_nothing() -> None:
    machine = "machineType: n1-standard-4, acceleratorType: ACCELERATOR_TYPE_UNSPECIFIED, acceleratorCount: 0"
    more = "network: ''\ntensorboard: ''\nexperiment: ''\nlabels: {}\nmodels: []\npersistentResourceId: ''\n"
    more += "scheduling: {strategy: STRATEGY_UNSPECIFIED, timeout: null, disableRetries: false}\n"
    plain = imported(job()).template
    assert imported(job(f"{CODE}, args: [], env: []}}", f"{more}{output(repr(''))}", machine)).template == plain
    empty = "  - {}\n  - {machineSpec: {machineType: '', acceleratorCount: 0}, replicaCount: 0}\n"
    template = imported(job(pool=empty + second(""))).template
    assert [pool.position for pool in template.worker_pools] == [None, "evaluators"]


def test_keys_of_the_stack_file_have_the_names_that_they_have_there() -> None:
    keys = {field.alias or camel(name) for name, field in ClusterEntry.model_fields.items()}
    named = [re.findall(r"`([\w.]+)` in the stack file", fix) for fix in JOB.refused.values()]
    paths = [path.split(".") for some in named for path in some]
    assert len(paths) == 3 and {path[0] for path in paths} <= keys
    assert [path[1:] for path in paths if path[1:]] == [[camel(field)] for field in EncryptionEntry.model_fields]


def test_a_file_is_read_as_gcloud_reads_it() -> None:
    """Held to gcloud's own reader by hand, of YAML 1.1."""
    template = imported(job(more="enableWebAccess: yes\nscheduling: {timeout: 60.000s}")).template
    assert template.enable_web_access and template.timeout_s == 60


def test_a_single_item_needs_no_list() -> None:
    """The example on Google's page has its only worker pool as a mapping, and gcloud takes it."""
    worker = f"machineSpec: {{machineType: n1-highmem-2}}, replicaCount: 1, {CODE}, args: port=8500}}"
    flex = "scheduling: {strategy: FLEX_START, maxWaitDuration: 1800s}"
    template = imported(f"workerPoolSpecs: {{{worker}}}\n{flex}").template
    assert (template.worker_pools[0].machine, template.worker_pools[0].args) == ("n1-highmem-2", ("port=8500",))
    assert template.capacity_types == ("flex-start",) and template.scheduling.max_wait_s == 1800


def test_snake_case_is_read_too() -> None:
    result = imported(
        f"""
worker_pool_specs:
  - machine_spec: {{machine_type: n1-standard-4}}
    replica_count: "1"
    container_spec: {{image_uri: {IMAGE}, args: ["--out=gs://mine/run/model"]}}
scheduling: {{timeout: 600s, strategy: SPOT}}
base_output_directory: {{output_uri_prefix: gs://mine/run}}
"""
    )
    assert result.template.capacity_types == ("spot",) and result.template.timeout_s == 600
    assert list(map(str, result.notes)) == [
        "job.yaml:1  serviceAccount: none is named, so its jobs run as the stack's trainer",
        "job.yaml:5  --out: gs://mine/run/model became ${slipway.output}/model",
        "job.yaml:7  baseOutputDirectory: gs://mine/run became ${slipway.output}, a directory of each job's own",
    ]


WORDS = (
    "--steps=3",
    "it's",
    'say "hi"',
    "\\n\n",
    '"$${HOME:-/root}"',
    "set -e\npython 'a.py' --name \"a\"\n" + "echo '\"$${HOME}\"' " * 9 + '\nexit "1"',
)


@pytest.mark.parametrize(
    "code",
    [
        Image(IMAGE, ("run", *WORDS)),
        Package("jobs/lora", "lora.task", "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"),
    ],
)
def test_its_python_loads_and_is_formatted(tmp_path: Path, code: Image | Package) -> None:
    many = tuple(f"--{word}" for word in WORDS * 2)
    asked = JobTemplate(
        name="imported",
        summary='of a "file"',
        code=code,
        worker_pools=(
            WorkerPool("chief", "n1-standard-8", Disk("pd-ssd", 500), "NVIDIA_TESLA_T4", 2, args=WORDS[:1]),
            WorkerPool("evaluators", "n1-standard-4", args=many, position="evaluators", env={"ROLE": WORDS[2]}),
        ),
        capacity_types=("flex-start",),
        secrets={"TOKEN": "projects/acme/secrets/token/versions/latest"},
        nfs_mounts=(NfsMount("10.0.0.2", "/data", "/mnt/nfs/data"),),
        network="projects/123/global/networks/vpc",
        scheduling=Scheduling(max_wait_s=0, restart_job_on_worker_restart=True),
    )
    source, file = python_source(asked), tmp_path / "imported.py"
    assert '"--set -e\\n"\n' in source, "a long text is a line a line"
    file.write_text(source)
    assert load("imported", tmp_path) == asked
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--diff", "--line-length", "120", "--no-cache"]
    done = subprocess.run([*ruff, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


MOUNTED = """\
network: projects/123456789012/global/networks/training
workerPoolSpecs:
  machineSpec: {machineType: n1-standard-8}
  replicaCount: 1
  containerSpec: {imageUri: %s}
  nfsMounts:
    - {server: 10.0.0.2, path: /vol1, mountPoint: %s}
"""


@pytest.mark.parametrize(
    ("point", "told"),
    [("models", []), ("/mnt/nfs/models", ["job.yaml:7  mountPoint: /mnt/nfs/models became models, its folder there"])],
)
def test_a_mapping_with_mounts_has_them_as_templates_do(point: str, told: list[str]) -> None:  # N25
    result = imported(MOUNTED % (IMAGE, point))
    assert result.template.nfs_mounts == (NfsMount("10.0.0.2", "/vol1", "models"),)
    assert notes(result, about="mountPoint") == told


def test_mounts_of_one_worker_pool_alone_are_refused() -> None:
    other = f"  - machineSpec: {{machineType: n1-standard-4}}\n    replicaCount: 1\n    {CODE}}}\n"
    mounts = "    nfsMounts: {server: 10.0.0.2, path: /vol1, mountPoint: models}\n"
    with pytest.raises(ConfigError) as error:
        imported(job(pool=mounts + other, more="network: projects/1/global/networks/n"))
    assert "other mounts than those of the first worker pool" in error.value.why


def test_the_name_and_the_folder_are_the_flags_matter() -> None:
    with pytest.raises(ConfigError) as error:
        read(job(PACKAGE), "job.yaml", Naming("Not A Name", "of a file"))
    assert "'Not A Name' can't be a template's name\n  fix: --name NAME: at most" in error.value.why
    assert "--code jobs/trainer" in error.value.why, "all at once"
    with pytest.raises(ConfigError, match="--code jobs/trainer, the folder of this repository"):
        read(job(PACKAGE), "job.yaml", Naming("imported", "of a file"))


def test_what_gcloud_describes_is_read_by_its_spec() -> None:
    """`gcloud ai custom-jobs describe --format=yaml`, and a request's body: no hand cuts the spec out."""
    body = {"createTime": "2026-11-20T09:10:11Z", "displayName": "digits-7", "jobSpec": yaml.safe_load(job())}
    result = imported(yaml.safe_dump({**body, "labels": {"team": "vision"}, "state": "JOB_STATE_SUCCEEDED"}))
    assert result.template == imported(job()).template
    assert notes(result) == ["job.yaml:1  createTime, displayName, labels, state: left out, as each job has its own"]


def test_what_slipway_wrote_is_read_without_its_launcher() -> None:
    args = "[--claim, gs://work/claims/r1, --module, trainer.task, --, '--out=output']"
    code = PACKAGE.replace("trainer.finetune", f"{LAUNCHER}\n      args: {args}")
    template = imported(job(code)).template
    assert template.worker_pools[0].args == ("--out=output",)


def test_an_image_starts_as_its_file_says_and_one_of_a_launcher_by_that_again() -> None:  # N13, N27
    own = {"imageUri": IMAGE, "command": ["run", "--fast"], "args": ["--x"]}
    words = ["--claim", "gs://work/claims/1", "--exec=run", "--exec=--fast", "--", "--x"]
    launched = {**own, "command": [*IMAGE_START, "/gcs/c/packages/own-0123456789ab.pyz"], "args": words}
    for container, launcher in ((own, False), (launched, True)):
        pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, "containerSpec": container}
        found = read(yaml.safe_dump({"workerPoolSpecs": [pool]}), "job.yaml", Naming("own", "of a file"))
        assert found.template.code == Image(IMAGE, ("run", "--fast"), launcher=launcher)
        assert found.template.worker_pools[0].args == ("--x",)
        assert any("at least once" in str(note) for note in found.notes) is not launcher


def test_further_replicas_of_the_chief_become_workers() -> None:
    several = job().replace("replicaCount: 1", "replicaCount: 3")
    found = imported(several)
    assert [(pool.role, pool.replicas) for pool in found.template.worker_pools] == [("chief", 1), ("workers", 2)]
    assert notes(found, about="replicaCount") == ["job.yaml:3  replicaCount: became 1 chief and 2 workers"]
    pool = several.partition("serviceAccount")[0].partition("\n")[2]
    with pytest.raises(ConfigError, match="3 replicas: the first worker pool is the chief, and has 1"):
        imported(several.replace(pool, pool * 2))


def test_a_draft_of_an_image_with_a_tag_has_a_note() -> None:
    tagged = job(CODE.replace(IMAGE, "docker.io/acme/train:v1") + "}")
    draft = read(tagged, "job.yaml", Naming("imported", "of a file", is_draft=True))
    source = python_source(draft.template).replace(UNPINNED, "")
    assert 'uri="docker.io/acme/train:v1"' in source and "sha256" not in source
    (note,) = notes(draft, about="imageUri")
    assert "`docker buildx imagetools inspect docker.io/acme/train:v1` prints it" in note
    with pytest.raises(ConfigError, match="is not pinned"):
        imported(tagged)
