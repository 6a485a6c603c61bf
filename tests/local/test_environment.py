"""The variables by which a shell talks to the local cloud. (N4)"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from vertex_local.identities import SUBMITTER
from vertex_local.projects import parse

from local.backend import file_backend
from local.environment import apart
from local.select_stack import select
from local.stack_copy import copy
from local.stack_file import LaptopStack, read
from slipway.base.errors import ConfigError, SlipwayError

from .conftest import ROOT, LocalCloud

# The discard port: nothing answers there.
PROXIES = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
ASK = """
import os
from slipway.google.connection import connect
print(type(connect(os.environ).vertex("local-project", "us-central1").persistent_resources()).__name__)
"""


def test_behind_a_proxy_the_cloud_is_reached_all_the_same_and_its_token_stays_here(cloud: LocalCloud) -> None:
    environ = {**cloud.env("owner"), **PROXIES}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("tuple\n", "")
    environ = {name: value for name, value in environ.items() if name.lower() != "no_proxy"}
    astray = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert "Unreachable" in astray.stderr


def test_the_laptop_is_apart_from_the_clouds_and_stacks_of_a_persons_shell() -> None:
    theirs = (
        "GOOGLE_CREDENTIALS",
        "PULUMI_STACK",
        "CLOUDSDK_CONFIG",
        "SLIPWAY_CATALOG",
        "SLIPWAY_LIVE",
        "SLIPWAY_PURPOSE",
    )
    own = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "SLIPWAY_CACHE": "/cache",
        "SLIPWAY_USER": "ada",
        "SLIPWAY_GCP_PLUGIN": "auto",
    }
    assert apart({**own, **dict.fromkeys(theirs, "theirs")}) == own


# --- The engine on the laptop is given a copy of the stack file. # N4


FILE = """config:
  gcp:project: acme-ml-dev # ours
  gcp:impersonateServiceAccount: up@acme.iam
secretsprovider: gcpkms://keys/one
encryptedkey: AbC=
"""


def test_the_copy_has_no_key_and_no_account_of_the_real_stack_and_keeps_the_salt_of_its_own(tmp_path: Path) -> None:
    declared = tmp_path / "stacks" / "Pulumi.dev.yaml"
    declared.parent.mkdir()
    declared.write_text(FILE)
    made = copy(tmp_path, tmp_path / "state", "dev")
    assert yaml.safe_load(made.read_text()) == {"config": {"gcp:project": "acme-ml-dev"}}
    made.write_text(made.read_text() + "encryptionsalt: v1:of:the:laptop\n")
    declared.write_text(FILE.replace("acme-ml-dev", "acme-ml-next") + "encryptionsalt: v1:another\n")
    again = yaml.safe_load(copy(tmp_path, tmp_path / "state", "dev").read_text())
    assert again == {"config": {"gcp:project": "acme-ml-next"}, "encryptionsalt": "v1:of:the:laptop"}
    assert "secretsprovider" in declared.read_text()


# --- `make select STACK=…` makes and selects a stack on the real engine, and writes nothing into the checkout.


REVIEWED = "# reviewed\n\nconfig:\n    plain:size:   3\n"


@pytest.fixture
def checkout(tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, state = tmp_path / "checkout", tmp_path / "state"
    (folder / "stacks").mkdir(parents=True)
    state.mkdir()
    (folder / "Pulumi.yaml").write_text("name: plain\nruntime: python\nstackConfigDir: stacks\n")
    for name in ("dev", "prod"):
        (folder / "stacks" / f"Pulumi.{name}.yaml").write_text(REVIEWED)
    for name, value in {
        "PATH": os.pathsep.join((str(engine), os.environ["PATH"])),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": file_backend(state),
        "PULUMI_CONFIG_PASSPHRASE": "a phrase",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


def selected(checkout: Path) -> str:
    command = ("pulumi", "stack", "--show-name")
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()


def files(checkout: Path) -> dict[str, str]:
    return {str(file.relative_to(checkout)): file.read_text() for file in checkout.rglob("*") if file.is_file()}


@pytest.mark.journey
def test_a_stack_is_made_then_selected_and_its_file_stays(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(checkout)
    for stack in ("dev", "prod", "dev"):
        select(checkout, stack)
        assert selected(checkout) == stack
    assert files(checkout) == before
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{checkout / 'nowhere'}")
    with pytest.raises(SlipwayError) as told:
        select(checkout, "dev")
    assert "nowhere" in told.value.why
    assert "PULUMI_BACKEND_URL" in told.value.fix


def test_a_stack_without_a_file_is_refused_before_the_engine_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as told:
        select(tmp_path, "dev")
    assert "stacks/Pulumi.dev.yaml" in told.value.what


# --- A stack file's declaration for the local cloud. # N4


TEAM = "group:team@acme.example"
SWEEPS = "sweeps@acme-ml-prod.iam.gserviceaccount.com"
H100 = {"machine": "a3-highgpu-8g", "disk": {"type": "pd-ssd", "sizeGb": 500}, "replicas": {"min": 1, "max": 4}}
CPU = {"machine": "n1-standard-4", "disk": {"type": "pd-ssd", "sizeGb": 100}, "replicas": 1}


def stack(folder: Path, *submitters: str, **more: object) -> LaptopStack:
    config = {
        "gcp:project": "acme-ml-prod",
        "gcp:region": "us-central1",
        "gcp:addPulumiAttributionLabel": "false",
        "slipway:persistentResources": more or {"cpu": {"pools": {"head": CPU}}},
        "slipway:quota": {"mode": "enforce", "contactEmail": "a@acme.example"},
        "slipway:templates": [],
        "slipway:workspace": {"submitters": list(submitters)},
    }
    file = folder / "stacks" / "Pulumi.prod.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump({"config": config}))
    return read(folder, "prod")


def test_groups_have_the_submitter_and_others_can_sign_in_themselves(tmp_path: Path) -> None:
    found = stack(tmp_path, TEAM, "user:bea@acme.example", f"serviceAccount:{SWEEPS}", "domain:acme.example")
    told = found.declaration()
    assert told["project"] == "acme-ml-prod"
    assert told["groups"] == {TEAM: [SUBMITTER]}
    assert told["people"] == ["user:bea@acme.example", f"serviceAccount:{SWEEPS}", "user:ada@acme.example"]
    assert told["accounts"] == [SWEEPS]
    assert found.submitter == "submitter"
    assert parse(told).project == "acme-ml-prod"
    person, other = "user:bea@acme.example", "serviceAccount:runs@acme-ml-other.iam.gserviceaccount.com"
    assert stack(tmp_path, person).submitter == "bea@acme.example"
    assert stack(tmp_path, other).declaration()["accounts"] == [], "an account of another project is that project's"


def test_quota_is_twice_what_pools_take_where_the_service_gives_less(tmp_path: Path) -> None:
    cluster = {"pools": {"workers": H100}, "alternatives": [{"region": "us-east5"}]}
    quota = stack(tmp_path, TEAM, h100=cluster).declaration()["quota"]
    for region in ("us-central1", "us-east5"):
        assert quota[f"custom_model_training_nvidia_h100_gpus.{region}"] == 2 * 4 * 8
    assert stack(tmp_path, TEAM).declaration()["quota"] == {}
