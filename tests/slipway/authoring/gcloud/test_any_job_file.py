"""Any job file that gcloud takes is imported as the same job but for what is told, or refused with its line. # N13"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import yaml
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipway.authoring.gcloud.fields import JOB, Message, Several
from slipway.authoring.gcloud.importing import Imported, Naming, read
from slipway.authoring.gcloud.job_file import job_file
from slipway.authoring.gcloud.python_source import python_source
from slipway.authoring.template.compile import request, usual_values
from slipway.base.codec import camel
from slipway.base.errors import ConfigError
from slipway.google.messages import message
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import fill as filled
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import VARIABLE, Launched
from slipway.model.machines.table import default_disk
from slipway.model.prices import UNKNOWN
from slipway.model.rules.table import check
from slipway.template import JobTemplate
from slipway.using.submission.request import fill
from tests.slipway.authoring.template.conftest import CONTEXT

Json = dict[str, Any]
Path = tuple[str | int, ...]

IMAGE = f"us-docker.pkg.dev/acme/train/task@sha256:{'0f' * 32}"
EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"
TOKEN = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345"
OUTPUTS = ("gs://acme", "gs://acme/runs/7", "gs://acme/runs/7/", "")
PLACES = (
    "gs://acme",
    "gs://acme/runs/7",
    "gs://acme/runs/7/",
    "gs://acme/runs/7/model",
    "gs://acme/runs/7/checkpoints/last.pt",
    "gs://acme/runs/71/checkpoints",
    "gs://acme/runs/7/models/base",
    "gs://acme/runs/7-old/model",
    "gs://acme-labels/v3.csv",
    "/gcs/acme/runs/7/model",
)
FORMS = ("{}", "--out={}", "--from={},{}", "cp -r {} . && echo '{}'", '{{"to": "{}"}}', "${{OUT:-{}}}", "x{}", "$${}")
WORDS = (
    "",
    "train",
    "--steps=3",
    "yes",
    "0o17",
    "1:30",
    "null",
    "a: b",
    "${HOME}",
    "$${HOME}",
    "$$${A}",
    "$(HOME)/x",
    "$$(HOME)",
    "{a}",
    "it's",
    "é\n$",
    "0",
)

places = st.builds(lambda form, place: form.format(place, place), st.sampled_from(FORMS), st.sampled_from(PLACES))
texts = st.sampled_from(WORDS) | places | st.text("${}()='\"\\ aé\n", max_size=8)
values = texts.filter(lambda text: "'" not in text) | st.sampled_from(
    (TOKEN, "projects/acme/secrets/t/versions/1", "projects/acme/secrets/t/versions/latest")
)
MACHINES = (
    ("n1-standard-8", None, 0),
    ("n1-standard-8", "NVIDIA_TESLA_T4", 1),
    ("g2-standard-12", "NVIDIA_L4", 1),
    ("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1),
)
MORE_MACHINES = (
    ("n1-standard-8", "ACCELERATOR_TYPE_UNSPECIFIED", 0),
    ("n1-standard-8", "NVIDIA_TESLA_T4", 0),
    ("n1-standard-8", None, 1),
    ("a2-highgpu-1g", None, 0),
    ("a2-highgpu-1g", "NVIDIA_TESLA_A100", 0),
    ("a3-highgpu-8g", "NVIDIA_H100_80GB", 8),
    ("ct5lp-hightpu-4t", None, 0),
    ("n1-standard-3", None, 0),
    ("", None, 0),
)
STRATEGIES = ("STRATEGY_UNSPECIFIED", "ON_DEMAND", "STANDARD", "SPOT")
KEY, PATH = "compute.googleapis.com/reservation-name", "projects/p/zones/us-central1-a/reservations/r"
AFFINITIES: tuple[Json | None, ...] = (
    None,
    {"reservationAffinityType": "TYPE_UNSPECIFIED"},
    {"reservationAffinityType": "NO_RESERVATION"},
    {"reservationAffinityType": "ANY_RESERVATION"},
    {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": KEY, "values": [PATH]},
)
ODD_AFFINITIES = (
    {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": KEY, "values": [PATH, PATH]},
    {"reservationAffinityType": "ANY_RESERVATION", "key": KEY},
    {"key": KEY},
)
MOUNTS = [{"server": "10.0.0.2", "path": "/data", "mountPoint": "data"}]
REACHED = "projects/123/global/networks/vpc"


class Drawing:
    """One job file as it is drawn: `odd` in each of some fields with a chance, or in none."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw, self.odd = draw, draw(st.booleans())

    def one(self, usual: Any, *odd: Any) -> Any:
        """A usual value, each a strategy or tuple of values, and seldom an odd one."""
        chosen = odd[0] if odd and self.odd and self.draw(st.integers(0, 5)) == 0 else usual
        return self.draw(chosen if isinstance(chosen, st.SearchStrategy) else st.sampled_from(chosen))

    def pool(self, first: bool, affinities: tuple[Json | None, ...], mounts: list[Json]) -> Json:
        """A worker pool; only the first can't be empty."""
        if self.one((False,) if first else (False, True), (True,)):
            return dict(self.one(({}, {"machineSpec": {}, "replicaCount": 0})))
        kind, accelerator, number = self.one(MACHINES, MORE_MACHINES)
        forms = self.one(("container", "container", "package"), ("container and package", "none"))
        return {
            "machineSpec": {
                "machineType": kind,
                "acceleratorType": accelerator,
                "acceleratorCount": number,
                "tpuTopology": "2x2" if kind.startswith("ct5") else self.one(("",), ("", "", "2x2")),
                "reservationAffinity": self.one(affinities, ODD_AFFINITIES),
                "gpuPartitionSize": self.one(("", None), ("", "", "1g.5gb")),
            },
            "replicaCount": self.one((1, "1") if first else (1, 3, "2"), (0, 2, None)),
            "diskSpec": self.one(
                (None, {}, {"bootDiskType": "pd-standard"}, {"bootDiskType": "", "bootDiskSizeGb": 500}),
                ({"bootDiskType": "hyperdisk-balanced"}, {"bootDiskSizeGb": 50}),
            ),
            "nfsMounts": self.one((mounts,), (mounts, [], MOUNTS)),
            "containerSpec": self.container() if "container" in forms else None,
            "pythonPackageSpec": self.package() if "package" in forms else None,
        }

    def container(self) -> Json:
        return {
            "imageUri": self.one((IMAGE,), ("task:latest", "")),
            "command": self.one(st.lists(texts, max_size=2)),
            **self.arguments(),
        }

    def package(self) -> Json:
        return {
            "executorImageUri": EXECUTOR,
            "packageUris": ["gs://acme/code/lora.tar.gz"],
            "pythonModule": self.one(("lora.task",), ("other.task", "")),
            **self.arguments(),
        }

    def arguments(self) -> Json:
        named = st.fixed_dictionaries(
            {"name": st.sampled_from(("A", "B", "HF_TOKEN", "API_KEY", "T__SECRET", VARIABLE))},
            optional={"value": values},
        )
        wrong = st.fixed_dictionaries({"name": st.sampled_from(("", "1-A", "A", "HF_TOKEN__SECRET")), "value": texts})
        args = st.sampled_from(("--pad_token=[PAD]", "--api-key", "$(HF_TOKEN)"))
        return {
            "args": self.one(
                st.lists(texts | args, max_size=4), st.lists(texts | st.just(f"--token={TOKEN}"), max_size=4)
            ),
            "env": self.one(
                st.lists(named, max_size=4, unique_by=lambda item: item["name"]), st.lists(named | wrong, max_size=4)
            ),
        }


@st.composite
def specs(draw: st.DrawFn) -> Json:
    """A CustomJobSpec as its JSON; None is a field that is not there."""
    drawn = Drawing(draw)
    network = drawn.one((None, "", REACHED), ("default", "${NETWORK}"))
    mounts = drawn.one(([], MOUNTS) if network == REACHED else ([],))
    strategy = drawn.one(STRATEGIES, ("LOW_COST", "FLEX_START"))
    affinities = AFFINITIES if strategy != "SPOT" and drawn.one((False, True)) else AFFINITIES[:3]
    home = "projects/1/locations/us-east1/metadataStores/default/contexts"
    return {
        "workerPoolSpecs": [
            drawn.pool(index == 0, affinities, mounts) for index in range(drawn.one((1, 1, 2, 3, 4), (5,)))
        ],
        "scheduling": {
            "timeout": drawn.one((None, "60s", "604800s"), ("2700000s", "0s", "1.5s")),
            "restartJobOnWorkerRestart": drawn.one((None, False, True)),
            "strategy": strategy,
            "disableRetries": drawn.one((None, False, True)),
            "maxWaitDuration": drawn.one((None, "0s", "86400s") if strategy == "FLEX_START" else (None,), ("600s",)),
        },
        "serviceAccount": drawn.one((None, "", "a@acme.iam.gserviceaccount.com"), ("me@acme.com", "a@${X}.com")),
        "network": network,
        "reservedIpRanges": drawn.one((None, []), ([], [], ["vertex"])),
        "pscInterfaceConfig": drawn.one((None, {}), ({}, {}, {"networkAttachment": "a"})),
        "baseOutputDirectory": drawn.one(
            (None, {}, {"outputUriPrefix": "gs://acme/runs/7"}, *({"outputUriPrefix": output} for output in OUTPUTS)),
            ({"outputUriPrefix": "s3://x"},),
        ),
        "protectedArtifactLocationId": drawn.one((None, ""), ("", "", "us-central1")),
        "tensorboard": drawn.one((None, "", "projects/1/locations/us-central1/tensorboards/2")),
        "enableWebAccess": drawn.one((None, False, True)),
        "enableDashboardAccess": drawn.one((None, False, True)),
        "experiment": drawn.one((None, ""), (None, None, "", f"{home}/d")),
        "experimentRun": drawn.one((None, ""), (None, None, "", f"{home}/d-1")),
        "persistentResourceId": drawn.one(
            (None, "", "cpu") if strategy != "SPOT" and affinities != AFFINITIES else (None, ""), ("cpu",)
        ),
        "models": drawn.one((None, []), ([], [], ["m"])),
    }


def spelled(value: Any, snake: bool) -> Any:
    """The JSON as a file has it: without what is None, its keys in one of the two spellings."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if inner is not None}
        return {_snake(key) if snake else key: spelled(inner, snake) for key, inner in kept.items()}
    return [spelled(inner, snake) for inner in value] if isinstance(value, list) else value


def _snake(key: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", key)


def canonical(spec: Json) -> Json:
    """The spec as the API keeps it, with its defaults written out."""
    parsed = ParseDict(spec, message("google.cloud.aiplatform_v1", "custom_job", "CustomJobSpec")())
    found: Json = MessageToDict(parsed)
    pools = [_pool(pool) if _filled(pool) else {} for pool in found.get("workerPoolSpecs", ())]
    while pools and not pools[-1]:
        pools.pop()
    scheduling = {"timeout": "604800s", "strategy": "STANDARD", **found.get("scheduling", {})}
    scheduling["strategy"] = {"ON_DEMAND": "STANDARD"}.get(scheduling["strategy"], scheduling["strategy"])
    if scheduling["strategy"] == "FLEX_START":
        scheduling = {"maxWaitDuration": "86400s", **scheduling}
    return {**found, "workerPoolSpecs": pools, "scheduling": scheduling}


def _filled(value: Any) -> bool:
    """Whether a message has any field that counts: an empty one is not set."""
    return any(map(_filled, value.values())) if isinstance(value, dict) else bool(value)


def _pool(pool: Json) -> Json:
    machine = dict(pool.get("machineSpec", {}))
    if machine.get("reservationAffinity", {}).get("reservationAffinityType") in (None, "NO_RESERVATION"):
        machine.pop("reservationAffinity", None)
    disk = {key: value for key, value in pool.get("diskSpec", {}).items() if value}
    usual = {"bootDiskType": default_disk(machine.get("machineType", "")), "bootDiskSizeGb": 100}
    spec = {**pool, "machineSpec": machine, "diskSpec": {**usual, **disk}}
    for key in ("containerSpec", "pythonPackageSpec"):
        if key in pool:
            code = dict(pool[key])
            if (launched := Launched.read(code.get("args", ()))) and key == "pythonPackageSpec":
                code |= {"pythonModule": launched.module, "args": launched.arguments}
            named = {variable.get("name", ""): variable.get("value", "") for variable in code.get("env", ())}
            spec[key] = {**code, "env": {name: value for name, value in named.items() if name != VARIABLE}}
    return spec


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping | list) and value:
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from leaves(inner, (*path, key))
    elif value not in ({}, [], "", None, False):
        yield path, value


def imported(text: str) -> Imported | ConfigError:
    try:
        return read(text, "job.yaml", Naming("imported", "of a file", "jobs/lora"))
    except ConfigError as refused:
        return refused


def asked_of(template: JobTemplate, *, refused: bool = False) -> Json:
    """The request that a deployment publishes; `refused`: whether or not the service would take it."""
    capacity_type = template.capacity_types[0]
    uris = dict.fromkeys(template.uploaded, "gs://catalog/packages/lora.tar.gz")
    cluster = "cpu" if capacity_type == "pool" else None
    return request(template, capacity_type, replace(CONTEXT, project="acme"), uris, cluster, refused=refused)


def sent(template: JobTemplate) -> Json:
    """The job that a submission sends."""
    capacity_type, body = template.capacity_types[0], asked_of(template)
    catalog = Catalog(
        "local", "p", "us-central1", "3f9c2e1", False, "work", "t", {"cpu": Cluster("cpu", (), id="cpu")}, (), {}
    )
    offer = Offer(capacity_type, True, "", "cpu" if capacity_type == "pool" else "", (), UNKNOWN, body)
    entry = Template("imported", "", "custom-job", (), (), ())
    spec: Json = fill(catalog, entry, offer, {}, request_id="r1", user="ada")["jobSpec"]
    return spec


def exported(template: JobTemplate) -> str:
    """The job file that Slipway writes of it."""
    body = filled(asked_of(template, refused=True), usual_values(template))
    return job_file(body, CUSTOM_JOB, project="acme", region="us-central1", about="a test")


def told(imported: Imported, spec: Json) -> list[Path]:
    """The fields that the notes name, a variable by its name."""
    found: list[Path] = []
    for note in imported.notes:
        path: Path = tuple(camel(part) if isinstance(part, str) else part for part in note.part.path)
        if "env" in path:
            at = path.index("env")
            entry: Any = spec
            for part in path[: at + 2]:
                entry = entry[part]
            path = (*path[: at + 1], entry["name"])
        found.append(path)
    return found


def ordered(env: Mapping[str, str]) -> list[str]:
    """The variables whose order counts, as one may name an earlier one: not references that no other names."""
    named = "".join(env.values())
    return [name for name in env if not name.endswith("__SECRET") or f"$({name})" in named]


def covered(path: Path, noted: list[Path]) -> bool:
    """Whether a note is about the field, or about one in it. A secret is the whole template's."""
    if "env" in path:
        secret = str(path[-1]).removesuffix("__SECRET")
        if any(note[-2:] == ("env", secret) for note in noted):
            return True
    return any(path[: len(note)] == note or note[: len(path)] == path for note in noted)


@given(spec=specs(), snake=st.booleans())
@settings(suppress_health_check=list(HealthCheck))
def test_it_is_the_same_job_but_for_what_is_told(spec: Json, snake: bool) -> None:
    asked = spelled(spec, snake)
    text = yaml.safe_dump(asked, sort_keys=False, allow_unicode=True)
    result = imported(text)
    if isinstance(result, ConfigError):
        assert "not well-formed" not in result.why, text
        named = re.findall(r"^job\.yaml:(\d+)  (\S+): ", result.why, re.MULTILINE)
        assert named and TOKEN not in result.render(), text
        return
    source = python_source(result.template)
    names: Json = {}
    exec(source, names)
    assert names["TEMPLATE"] == result.template
    assert TOKEN not in source and not any(TOKEN in str(note) for note in result.notes)
    text_of_it = exported(result.template)
    again = imported(text_of_it)
    assert isinstance(again, Imported) and exported(again.template) == text_of_it, (text, text_of_it)
    before = canonical(spelled(spec, snake=False))
    try:
        after = canonical(sent(result.template))
    except ConfigError as refused:
        # It is a job that the service refuses, whoever sends it.
        body = {"displayName": "x", "jobSpec": spelled(spec, snake=False)}
        rules = {breach.rule.id for breach in check("custom-job", "", body, region="us-central1")}
        broken = set(re.findall(r"\[([\w-]+)\]$", refused.why, re.MULTILINE))
        assert broken and broken <= rules, (refused.render(), text)
        return
    was, becomes = dict(leaves(before)), dict(leaves(after))
    differing = [path for path in {**was, **becomes} if was.get(path) != becomes.get(path)]
    noted = told(result, spelled(spec, snake=False))
    untold = [path for path in differing if not covered(path, noted)]
    assert not untold, (untold, source, text, *map(str, result.notes))
    for pool, other in zip(before["workerPoolSpecs"], after["workerPoolSpecs"], strict=True):
        for key in {"containerSpec", "pythonPackageSpec"} & pool.keys():
            kept = [name for name in ordered(pool[key]["env"]) if name in other[key]["env"]]
            assert kept == [name for name in other[key]["env"] if name in kept]


def fields_of(descriptor: Any, read: Message) -> Iterator[str]:
    """The fields of the API that an import knows nothing of."""
    for field in descriptor.fields:
        name = camel(field.name)
        inner = read.known.get(name)
        inner = inner.read if isinstance(inner, Several) else inner
        if name not in read.known and name not in read.refused:
            yield f"{descriptor.name}.{name}"
        elif isinstance(inner, Message):
            yield from fields_of(field.message_type, inner)


def test_every_field_of_the_api_is_read_or_refused_in_words() -> None:
    kind = message("google.cloud.aiplatform_v1", "custom_job", "CustomJobSpec")
    assert list(fields_of(kind.DESCRIPTOR, JOB)) == []
