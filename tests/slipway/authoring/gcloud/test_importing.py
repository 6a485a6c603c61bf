"""What an import changes, keeps, tells and refuses: inputs as people have them. # N13"""

from __future__ import annotations

import re

import pytest

from slipway.authoring.gcloud.fields import JOB
from slipway.authoring.gcloud.importing import Imported, Naming, read
from slipway.authoring.gcloud.python_source import python_source
from slipway.authoring.stack.entries import ClusterEntry, EncryptionEntry
from slipway.authoring.stack.secrets import KEEP
from slipway.authoring.template.jobspec import LAUNCHER
from slipway.base.codec import camel
from slipway.base.errors import ConfigError

IMAGE = f"us-docker.pkg.dev/acme/x/train@sha256:{'a' * 64}"
CODE = f"containerSpec: {{imageUri: {IMAGE}"


def imported(text: str, folder: str = "jobs/trainer") -> Imported:
    return read(text, "job.yaml", Naming("imported", "of a file", folder))


def refused(text: str) -> list[str]:
    """The mistakes with their fixes, a line each."""
    with pytest.raises(ConfigError) as error:
        imported(text)
    return error.value.why.splitlines()


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


def notes(one: Imported, *, about: str = "") -> list[str]:
    return [str(note) for note in one.notes if about in note.text and "baseOutputDirectory" not in note.text]


@pytest.mark.parametrize(
    ("uri", "given", "becomes"),
    [
        ("gs://acme/runs/7", "--out=gs://acme/runs/7", "--out=${slipway.output}"),
        ("gs://acme/runs/7/", "--out=gs://acme/runs/7", "--out=${slipway.output}"),
        ("gs://acme/runs/7", "--out=gs://acme/runs/7/", "--out=${slipway.output}/"),
        ("gs://acme/runs/7", "--out=gs://acme/runs/7/model", "--out=${slipway.output}/model"),
        ("gs://acme/runs/7", "gs://acme/runs/7/checkpoints/last.pt", "${slipway.output}/checkpoints/last.pt"),
        ("gs://acme/runs/7", "cp 'gs://acme/runs/7/logs/' .", "cp '${slipway.output}/logs/' ."),
        ("gs://acme/runs/7", '{"to": "gs://acme/runs/7"}', '{"to": "${slipway.output}"}'),
        ("gs://acme/runs/7", "${OUT:-gs://acme/runs/7}", "$${OUT:-${slipway.output}}"),
        ("gs://acme", "--out=gs://acme/model", "--out=${slipway.output}/model"),
    ],
)
def test_the_output_becomes_each_jobs_own_where_a_text_names_it(uri: str, given: str, becomes: str) -> None:
    found = imported(job(f"{CODE}, args: [{given!r}]}}", output(uri)))
    assert found.template.worker_pools[0].args == (becomes,)
    (told,) = notes(found)
    assert told.startswith("job.yaml:4  ") and " became ${slipway.output}" in told


@pytest.mark.parametrize(
    ("uri", "given"),
    [
        ("gs://acme-samples", "gs://acme-samples/input/train-data.csv"),
        ("gs://acme-samples", "gs://acme-samples-labels/v3.csv"),
        ("gs://acme/runs/7", "gs://acme/runs/71/checkpoints"),
        ("gs://acme/runs/7", "gs://acme/runs/7/models/base"),
        ("gs://acme/runs/7", "gs://acme/runs/7/model.pt"),
        ("gs://acme/runs/7", "gs://acme/runs/7/records/learn"),
        ("gs://acme/runs/7", "/gcs/acme/runs/7/model"),
        ("gs://acme/runs/7", "gs://acme/runs/7/$NAME"),
    ],
)
def test_what_looks_like_the_output_stays_and_is_told(uri: str, given: str) -> None:
    """It may be an input beside the output, or below it."""
    found = imported(job(f"{CODE}, args: ['--from={given}'], env: [{{name: BASE, value: {given}}}]}}", output(uri)))
    assert found.template.worker_pools[0].args == (f"--from={given}",) and found.template.env == {"BASE": given}
    told = f"{given} stays, though it begins like the output {uri}"
    assert notes(found) == [f"job.yaml:4  BASE: {told}", f"job.yaml:4  --from: {told}"]


def test_another_place_is_no_matter() -> None:
    found = imported(job(f"{CODE}, args: ['--from=gs://data/runs/7', xgs://acme/runs/7]}}", output("gs://acme/runs/7")))
    assert found.template.worker_pools[0].args == ("--from=gs://data/runs/7", "xgs://acme/runs/7")
    assert notes(found) == []


def test_no_reservation_is_none_and_a_spot_job_stays_one() -> None:
    for kind in ("NO_RESERVATION", "TYPE_UNSPECIFIED"):
        machine = f"machineType: n1-standard-4, reservationAffinity: {{reservationAffinityType: {kind}}}"
        found = imported(job(machine=machine, more="scheduling: {strategy: SPOT}")).template
        assert found.capacity_types == ("spot",) and found.worker_pools[0].reservation is None


ANOTHER = "machines come from one source, and persistentResourceId names another"


def test_machines_come_from_one_source() -> None:
    machine = "machineType: n1-standard-4, reservationAffinity: {reservationAffinityType: ANY_RESERVATION}"
    assert refused(job(machine=machine, more="persistentResourceId: cpu\nscheduling: {strategy: SPOT}")) == [
        f"job.yaml:2  workerPoolSpecs[0].machineSpec.reservationAffinity: {ANOTHER}",
        "  fix: leave one of the two out",
        f"job.yaml:6  scheduling.strategy: {ANOTHER}",
        "  fix: leave one of the two out",
    ]


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
    found = imported(TOKENS.replace("{}", PACKAGE))
    assert found.template.env == {"USE_TORCH_XLA": "0"}
    assert found.template.secrets == {"HF_TOKEN": "hf-token", "WANDB_API_KEY": "wandb-api-key"}
    source, said = python_source(found.template), notes(found)
    assert "hf_AbC" not in source and "0123456789" not in source + "".join(said)
    assert said == [
        "job.yaml:6  packageUris: gs://acme-training/code/trainer-0.1.tar.gz became the code in jobs/trainer",
        f"job.yaml:9  HF_TOKEN: {TOLD.format('hf-token')}",
        f"job.yaml:10  WANDB_API_KEY: {TOLD.format('wandb-api-key')}",
    ]
    of_an_image = imported(TOKENS.replace("{}", f"containerSpec:\n      imageUri: {IMAGE}"))
    assert "the code of an image finds its reference in HF_TOKEN__SECRET" in notes(of_an_image)[0]


def test_a_name_that_is_a_secret_in_one_worker_pool_alone_is_refused() -> None:
    env = "env: [{name: API_KEY, value: abcdef}]"
    (what, _) = refused(job(f"{CODE}, {env}}}", pool=second("{name: API_KEY, value: $(OTHER)}")))
    assert what.endswith("env[0]: API_KEY looks like a secret, and has another value in another worker pool")


def test_a_token_in_an_argument_is_refused_and_a_likely_one_is_told() -> None:
    (what, fix) = refused(job(f"{CODE}, args: [--hub, hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345]}}"))
    assert what == "job.yaml:4  workerPoolSpecs[0].containerSpec.args[1]: --hub has a secret in plain text"
    assert "(`secrets=`)" in fix and "hf_AbC" not in what + fix
    found = imported(job(f"{CODE}, args: ['--pad_token=PAD1', '--api-key', '$(KEY)']}}"))
    assert notes(found) == [f"job.yaml:4  --pad_token: is copied as it is; if it is a secret, {KEEP}"]


def test_a_secrets_value_is_in_no_argument_any_more() -> None:
    env = "env: [{name: HF_TOKEN, value: hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345}]"
    found = imported(job(f"{CODE}, args: ['--hub=$(HF_TOKEN)'], {env}}}"))
    assert notes(found, about="--hub") == [
        "job.yaml:4  --hub: $(HF_TOKEN) is no variable of the job any more; its code reads HF_TOKEN itself"
    ]


@pytest.mark.parametrize(
    ("variables", "what"),
    [
        ("{name: A, value: 1-A}, {name: A, value: x}", "containerSpec.env[1]: A is set twice"),
        ("{name: 1-A, value: x}", "containerSpec.env[0]: '1-A' is not a variable's name"),
        ("{value: x}", "containerSpec.env[0]: '' is not a variable's name"),
        (
            '{name: NOTE, value: "don\'t"}',
            "containerSpec.env[0].value: environment variable NOTE has an apostrophe in its value, which Vertex AI",
        ),
        (
            "{name: API_KEY, value: abcdef}, {name: API_KEY__SECRET, value: x}",
            "containerSpec.env[0]: API_KEY looks like a secret, and API_KEY__SECRET is set as well",
        ),
        (
            "{name: HF__SECRET, value: hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345}",
            "containerSpec.env[0]: HF__SECRET has a secret in plain text",
        ),
    ],
)
def test_a_variable_that_no_job_can_have_is_refused(variables: str, what: str) -> None:
    assert refused(job(f"{CODE}, env: [{variables}]}}"))[0].startswith(f"job.yaml:4  workerPoolSpecs[0].{what}")


def test_variables_that_no_job_of_slipway_gets_are_left_out_and_told() -> None:
    variables = "{name: EMPTY, value: ''}, {name: SLIPWAY_PARAMETERS, value: '{}'}, {name: A, value: x}"
    found = imported(job(f"{CODE}, env: [{variables}]}}"))
    assert found.template.env == {"A": "x"}
    assert notes(found) == [
        "job.yaml:4  EMPTY: left out, as its value is empty",
        "job.yaml:4  SLIPWAY_PARAMETERS: left out, as each job has its own",
    ]


def second(env: str) -> str:
    return f"  - machineSpec: {{machineType: n1-standard-8}}\n    replicaCount: 3\n    {CODE}, env: [{env}]}}\n"


def test_each_worker_pool_keeps_its_environment() -> None:
    chief = f"{CODE}, env: [{{name: ROLE, value: a}}, {{name: MASTER, value: '1'}}]}}"
    found = imported(job(chief, pool=second("{name: ROLE, value: b}"))).template
    assert found.env == {} and [pool.env for pool in found.worker_pools] == [
        {"ROLE": "a", "MASTER": "1"},
        {"ROLE": "b"},
    ]
    same = imported(job(f"{CODE}, env: [{{name: A, value: a}}]}}", pool=second("{name: A, value: a}"))).template
    assert same.env == {"A": "a"} and [pool.env for pool in same.worker_pools] == [{}, {}]


def test_a_shell_reads_its_own_variables() -> None:
    script = "ROOT=/tmp; python ${ROOT}/a.py --out ${AIP_MODEL_DIR:-/tmp/out} $$ $(HOME) $${X}"
    found = imported(job(f"{CODE}, args: ['{script}']}}")).template
    escaped = script.replace("$${X}", "$$$${X}").replace("${ROOT", "$${ROOT").replace("${AIP", "$${AIP")
    assert found.worker_pools[0].args == (escaped,)


def test_what_a_client_writes_for_nothing_is_nothing() -> None:
    machine = "machineType: n1-standard-4, acceleratorType: ACCELERATOR_TYPE_UNSPECIFIED, acceleratorCount: 0"
    more = "network: ''\ntensorboard: ''\nexperiment: ''\nlabels: {}\nmodels: []\npersistentResourceId: ''\n"
    more += "scheduling: {strategy: STRATEGY_UNSPECIFIED, timeout: null, disableRetries: false}\n"
    plain = imported(job()).template
    assert imported(job(f"{CODE}, args: [], env: []}}", f"{more}{output(repr(''))}", machine)).template == plain
    empty = "  - {}\n  - {machineSpec: {machineType: '', acceleratorCount: 0}, replicaCount: 0}\n"
    found = imported(job(pool=empty + second(""))).template
    assert [pool.position for pool in found.worker_pools] == [None, "evaluators"]


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        (
            f"workerPoolSpecs:\n  - machineSpec:\n      machineType: n1-standard-4\n      {CODE}}}\n",
            "job.yaml:4  workerPoolSpecs[0].machineSpec.containerSpec: no field of a job file here",
            "it belongs one level up, beside machineSpec",
        ),
        (
            f"workerPoolSpecs:\n  - machineSpec:\n      diskSpec:\n        timeout: 60s\n    {CODE}}}\n",
            "job.yaml:3  workerPoolSpecs[0].machineSpec.diskSpec: no field of a job file here",
            "it belongs one level up, beside machineSpec",
        ),
        (
            job(f"{CODE}, serviceAccount: a}}"),
            "job.yaml:4  workerPoolSpecs[0].containerSpec.serviceAccount: no field of a job file here",
            "it belongs 2 levels up, beside workerPoolSpecs",
        ),
        (
            job(f"args: [a]\n    {CODE}}}"),
            "job.yaml:4  workerPoolSpecs[0].args: no field of a job file here",
            "it belongs below containerSpec",
        ),
        (
            job(more="timeout: 60s"),
            "job.yaml:5  timeout: no field of a job file here",
            "it belongs below scheduling",
        ),
        (
            job(more="scheduling: {machineType: n1-standard-4}"),
            "job.yaml:5  scheduling.machineType: no field of a job file here",
            "it belongs below workerPoolSpecs.machineSpec",
        ),
        (
            job(f"gpuPartitionSize: 1g.5gb\n    {CODE}}}"),
            "job.yaml:4  workerPoolSpecs[0].gpuPartitionSize: no field of a job file here",
            "it belongs below machineSpec, and a template can't have it: leave it out for a whole GPU",
        ),
        (
            job(f"{CODE}, imageUrl: a}}"),
            "job.yaml:4  workerPoolSpecs[0].containerSpec.imageUrl: no field of a job file here",
            "imageUri, if that was meant",
        ),
        (
            job(more="label: {a: b}"),
            "job.yaml:5  label: no field of a job file here",
            "labels, if that was meant, and a template can't have it: leave it out, and give the template `labels=`",
        ),
        (
            job(f"{CODE}, maxWaitDurations: 60s}}"),
            "job.yaml:4  workerPoolSpecs[0].containerSpec.maxWaitDurations: no field of a job file here",
            "maxWaitDuration, if that was meant: it belongs below scheduling",
        ),
        (
            job(more="capacityTypes: [spot]"),
            "job.yaml:5  capacityTypes: no field of a job file here",
            "leave it out, and give the template `capacity_types=` in its Python",
        ),
        (
            job(more="zzz: 1"),
            "job.yaml:5  zzz: no field of a job file here",
            "leave it out; known here: workerPoolSpecs, scheduling",
        ),
        (
            job(more="pscInterfaceConfig: {networkAttachment: a}"),
            "job.yaml:5  pscInterfaceConfig: a template can't have it",
            "`pscInterface` in the stack file",
        ),
        (
            job(more="labels: {team: vision}"),
            "job.yaml:5  labels: a template can't have it",
            "leave it out, and give the template `labels=` in its Python",
        ),
        (
            job(machine="machineType: a2-highgpu-1g, gpuPartitionSize: 1g.5gb"),
            "job.yaml:2  workerPoolSpecs[0].machineSpec.gpuPartitionSize: a template can't have it",
            "what a part of one draws of a quota, and costs, is not documented",
        ),
        (
            job(more="scheduling:\n  strategy: SPOT\n  timeout: 2700000s"),
            "job.yaml:7  scheduling.timeout: 2700000s is not within a template's bounds",
            "1s to 604800s, which is 7 days",
        ),
        (
            job(machine="machineType: n1-standard-4, acceleratorType: NVIDIA_TESLA_T4, acceleratorCount: 3"),
            "job.yaml:2  workerPoolSpecs[0].machineSpec.acceleratorCount: n1-standard-4 can't have 3 × NVIDIA_TESLA_T4",
            "one of 1, 2, 4",
        ),
        (
            job(f"diskSpec: {{bootDiskType: pd-balanced}}\n    {CODE}}}"),
            "job.yaml:4  workerPoolSpecs[0].diskSpec.bootDiskType: 'pd-balanced' does not fit n1-standard-4",
            "one of pd-ssd, pd-standard",
        ),
        (
            job(f"{CODE}}}").replace("replicaCount: 1", "replicaCount: 2"),
            "job.yaml:3  workerPoolSpecs[0].replicaCount: 2 replicas: the first worker pool is the chief, and has 1",
            "1, or another pool",
        ),
        (
            job(pool=second("").replace("replicaCount: 3", "replicaCount: -1")),
            "job.yaml:6  workerPoolSpecs[1].replicaCount: -1 is not a number of replicas",
            "1 or more, or leave the worker pool empty: {}",
        ),
        (
            job(f"diskSpec: {{bootDiskSizeGb: 50}}\n    {CODE}}}"),
            "job.yaml:4  workerPoolSpecs[0].diskSpec.bootDiskSizeGb: 50 GB is not a size of a boot disk",
            "100 to 64000",
        ),
        (
            job().replace("train@acme.iam.gserviceaccount.com", "me@acme.com"),
            "job.yaml:6  serviceAccount: 'me@acme.com' is not an account's address",
            "trainer@acme-ml.iam.gserviceaccount.com, for example",
        ),
    ],
)
def test_a_field_that_is_out_of_place_is_named_with_its_place(text: str, what: str, fix: str) -> None:
    said = refused(text)
    assert what == said[0] and fix in said[1]


def test_keys_of_the_stack_file_have_the_names_that_they_have_there() -> None:
    keys = {field.alias or camel(name) for name, field in ClusterEntry.model_fields.items()}
    named = [re.findall(r"`([\w.]+)` in the stack file", fix) for fix in JOB.refused.values()]
    paths = [one.split(".") for some in named for one in some]
    assert len(paths) == 3 and {path[0] for path in paths} <= keys
    assert [path[1:] for path in paths if path[1:]] == [[camel(one)] for one in EncryptionEntry.model_fields]


def test_a_file_is_read_as_gcloud_reads_it() -> None:
    """Held to gcloud's own reader by hand: of YAML 1.1, and of JSON as Python's library writes it."""
    words = '[yes, no, 010, 1:30, 2020-01-01, "a", 1e3]'
    named = [one.partition(": ")[2] for one in refused(job(f"{CODE}, args: {words}}}")) if "job.yaml" in one]
    kinds = ("True", "False", "8", "90", "2020-01-01")
    assert named == [f"{kind!r} is not text" for kind in kinds]
    asked = job(f'{CODE}, args: ["\\ud83d\\ude00"]}}', "enableWebAccess: yes\nscheduling: {timeout: 60.000s}")
    found = imported(asked).template
    assert found.worker_pools[0].args == ("\U0001f600",) and found.enable_web_access and found.timeout_s == 60
    assert "half of a character" in refused(job(f'{CODE}, args: ["\\ud83d"]}}'))[0]
    number = "machineType: n1-standard-4, acceleratorType: 5, acceleratorCount: 1"
    assert refused(job(machine=number))[1] == "  fix: the name that this number stands for in the API"


def test_the_name_is_the_flags_matter() -> None:
    with pytest.raises(ConfigError) as error:
        read(job(), "job.yaml", Naming("Not A Name", "of a file"))
    assert error.value.what == "'Not A Name' can't be a template's name" and error.value.fix.startswith("--name NAME")


def test_what_slipway_wrote_is_read_without_its_launcher() -> None:
    args = f"[--claim, gs://work/claims/r1, --module, trainer.task, --, '--out={output.__name__}']"
    code = PACKAGE.replace("trainer.finetune", f"{LAUNCHER}\n      args: {args}")
    found = imported(job(code)).template
    assert found.worker_pools[0].args == ("--out=output",)
