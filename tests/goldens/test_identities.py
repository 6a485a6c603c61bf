"""Names by which living things are known again, and exit codes. No release of ours may change one: it would replace
somebody's GPUs, or send their jobs a second time. # N1 # N7 # N8"""

from dataclasses import replace
from pathlib import Path

import pulumi
import pytest

from components import Catalog as CatalogComponent
from components import CatalogArgs, JobTemplate, JobTemplateArgs, Workspace, guard, hooks
from components.generation import Surroundings, current, record_regions
from slipway.authoring.packages.source_package import SourcePackage
from slipway.base import errors
from slipway.base.errors import SlipwayError
from slipway.model import labels
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Parameter
from slipway.model.cluster import ClusterSpec, CurrentCluster, DnsPeering, PoolSpec, PscInterface
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.identity import Identity
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.using.submission.request import RequestOverrides, attempt_id
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps.points import Given, Point, Points
from slipway.using.sweeps.runs import Run
from slipway.using.sweeps.sweep_plan import plan_sweep
from tests.components.conftest import FACTS, PROJECT, REGION, Decided, composed
from tests.slipway.using.submission.fallback_command import catalog

H100 = PoolSpec("workers", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 1, 4, True, 1)
HEAD = PoolSpec("head", MachineSpec("n1-standard-4"), 2, 2, False, 2)
PLAIN = ClusterSpec("h100", (H100,))
FULL = ClusterSpec(
    "team-a",
    (H100, HEAD),
    display_name="Team A",
    network="projects/123456789012/global/networks/training",
    reserved_ip_ranges=("vertex",),
    kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    psc=PscInterface("attachment", (DnsPeering("corp.example.", "net", "shared"),)),
    custom_service_account=False,
    labels={"team": "a", "cost": "42"},
    generation=3,
)
SEEDS = tuple(Point({"seed": Given(seed, "", "")}, "") for seed in ("1", "2"))
SWEEPABLE = catalog(launcher=True)
SWEEPABLE = replace(
    SWEEPABLE,
    templates={
        "digits": replace(
            SWEEPABLE.templates["digits"], parameters=(Parameter("seed", "int"), Parameter("trees", "int", 3))
        )
    },
)
OWN = RequestOverrides(package="gs://work/code/abc/digits.tar.gz", code="abc")


@pytest.mark.parametrize(("spec", "golden"), [(PLAIN, "1a09d3f"), (FULL, "020e4b2")])
def test_a_cluster_s_hash(spec: ClusterSpec, golden: str) -> None:  # B3
    label = Identity("slipway", "prod").label
    assert fingerprint_of(label, "acme-ml-prod", "us-central1", spec) == golden


def test_a_cluster_s_id() -> None:
    assert cluster_id("h100", "1a2b3c4") == "h100-1a2b3c4"
    assert cluster_id("h100", "1a2b3c4", 2) == "h100-1a2b3c4-2"


def test_ids_of_a_submission_s_attempts() -> None:
    assert [attempt_id("mine", number) for number in range(3)] == ["mine", "c2do7h747ed7fjmd", "5ereuafhfp6agl64"]


@pytest.mark.parametrize(
    ("asked", "name", "golden"),
    [
        (SubmissionRequest("digits"), None, "digits-1677e8c4f8: vx7rshzqb5p7bltz digits-hgl5en6o"),
        (
            SubmissionRequest("digits", {"trees": "5"}, "spot"),
            None,
            "digits-0ef10faa41: jixsu4yzwxx4tjsw digits-e46hz7dq",
        ),
        (
            SubmissionRequest("digits", kind="custom-job", overrides=OWN),
            None,
            "digits-955535f934: 3wy44c53ngy7l6ir digits-ftziooya",
        ),
        (
            SubmissionRequest("digits", kind="custom-job", overrides=replace(OWN, of_folder=True)),
            None,
            "digits-f85095686c: k3kd5tren6y64jlm digits-decw5qle",
        ),
        (SubmissionRequest("digits"), "nightly", "nightly: xtswqlqcma4dvned digits-wumxgmd5"),
    ],
)
def test_ids_of_a_sweep_and_of_its_first_run_and_job(asked: SubmissionRequest, name: str | None, golden: str) -> None:
    plan = plan_sweep(SWEEPABLE, asked, Points("s.csv", SEEDS), "ada", name)
    body = plan.prepared(Run(0)).candidates[0].body
    assert f"{plan.id}: {body['labels']['slipway-request']} {body['displayName']}" == golden
    assert {key: body["labels"][f"slipway-{key}"] for key in ("run", "runs", "sweep")} == {
        "run": "0",
        "runs": "2",
        "sweep": plan.id,
    }


def test_a_sweep_of_a_folder_is_found_by_its_name_of_earlier_versions() -> None:
    asked = SubmissionRequest("digits", kind="custom-job", overrides=replace(OWN, of_folder=True))
    assert plan_sweep(SWEEPABLE, asked, Points("s.csv", SEEDS), "ada", None).id_by_code == "digits-955535f934"


def test_ids_of_a_run_sent_again() -> None:
    assert [(run.label, run.request_id("nightly")) for run in (Run(1), Run(1, 1))] == [
        ("1", "3grstvfhifrt6y6x"),
        ("1-1", "r4awjgfkntzik5ld"),
    ]


def test_the_same_runs_asked_for_in_another_way_are_other_sweeps_by_these_ids() -> None:
    plan = plan_sweep(SWEEPABLE, SubmissionRequest("digits"), Points("s.csv", SEEDS), "ada", None)
    assert {name: (other.capacity_type, other.kind) for name, other in plan.siblings.items()} == {
        "digits-5ac5c1b4cf": (None, "custom-job"),
        "digits-a43a30858c": ("pool", None),
        "digits-4302ddf320": ("pool", "custom-job"),
        "digits-459cb3962b": ("spot", None),
        "digits-5421afb74f": ("spot", "custom-job"),
        "digits-564e3b3515": ("on-demand", None),
        "digits-3c9bd6a011": ("on-demand", "custom-job"),
    }


def test_labels() -> None:
    named = {name: value for name, value in vars(labels).items() if name.endswith("_LABEL")}
    assert sorted(named.values()) == [
        "slipway-agent",
        "slipway-capacity-type",
        "slipway-code",
        "slipway-code-commit",
        "slipway-code-programs",
        "slipway-commit",
        "slipway-commit-dirty",
        "slipway-dirty",
        "slipway-hash",
        "slipway-name",
        "slipway-request",
        "slipway-roles",
        "slipway-run",
        "slipway-runs",
        "slipway-session",
        "slipway-stack",
        "slipway-sweep",
        "slipway-team",
        "slipway-template",
        "slipway-urgent",
        "slipway-user",
        "vertex-ai-pipelines-run-billing-id",
    ]
    records = (
        "SLIPWAY_PARAMETERS",
        "SLIPWAY_NOTE",
        "SLIPWAY_NOTIFICATION",
        "SLIPWAY_SETTINGS",
        "SLIPWAY_YIELD",
        "SLIPWAY_RACE",
    )
    assert records == labels.RECORDS


def test_names_of_buckets() -> None:
    vision = Identity("vision-infra", "dev")
    assert vision.buckets("acme.example:ml") == ("ml-vision-infra--dev-catalog", "ml-vision-infra--dev-work")
    assert vision.buckets("acme-ml-production-4242")[0] == "acme-ml-production-4242-vision-infra--dev-catalog"
    long = Identity("vision-infrastructure-2026", "production", "ml-team-berlin")
    assert long.buckets("acme-ml-production-4242") == (
        "acme-ml-production-4242-vision-infrastructur---a42c02b8-catalog",
        "acme-ml-production-4242-vision-infrastructur---a42c02b8-work",
    )


def test_names_of_accounts_and_labels() -> None:
    assert Identity("acme", "dev").account("trainer") == "acme--dev--trainer"
    assert Identity("vision-infra", "dev").account("trainer") == "vision-infra--dev--trainer"
    assert Identity("vision-infrastructure", "dev").account("trainer") == "vision-infrastructu---8608bc46"
    assert Identity("2026", "dev").account("trainer") == "project-2026--dev---ab60a58d"
    assert Identity("vision-infra", "dev", "ml").label == "vision-infra--dev--ml"
    assert Identity("Vision", "dev").label == "vision--dev---8f0c1b7e"
    long = Identity("vision-infrastructure-2026", "production", "ml-team-berlin-with-a-long-name")
    assert long.label == "vision-infrastructure-2026--production--ml-team-berl---7f2fbc87"


def test_names_that_the_engine_has_in_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under another name a resource would be replaced, and one whose hook is gone can't be deleted."""
    monkeypatch.chdir(tmp_path)
    packages = {"nap": {"code": SourcePackage("nap-0123456789ab.tar.gz", "0123456789ab", b"package")}}
    published = Catalog("dev", PROJECT, REGION, "3f9c2e1", False, "acme-work", "t", {}, (), {})

    def program() -> None:
        workspace = Workspace("workspace")
        parent = pulumi.ComponentResource("slipway:index:PersistentResource", "h100")
        opts = pulumi.ResourceOptions(parent=parent)
        cluster = CurrentCluster(PLAIN, "h100-1a2b3c4", "1a2b3c4", import_=False)
        current(cluster, "dev", FACTS, Surroundings(PROJECT, REGION, opts=opts))
        record_regions("other-regions", ("us-east4",))
        template = JobTemplate("nap", JobTemplateArgs(workspace=workspace))
        CatalogComponent("catalog", CatalogArgs(workspace=workspace, templates=[template]))

    decided = Decided(catalog=published, templates=packages)
    assert sorted(f"{resource.parent} {resource.type} {resource.name}" for resource in composed(program, decided)) == [
        "catalog gcp:storage/bucketObject:BucketObject catalog",
        "h100 slipway:index:Generation h100-1a2b3c4",
        "h100-1a2b3c4 gcp:vertex/aiPersistentResource:AiPersistentResource h100-1a2b3c4",
        "nap gcp:storage/bucketObject:BucketObject nap-0123456789ab",
        "slipway-dev slipway:index:Catalog catalog",
        "slipway-dev slipway:index:JobTemplate nap",
        "slipway-dev slipway:index:OtherRegions other-regions",
        "slipway-dev slipway:index:PersistentResource h100",
        "slipway-dev slipway:index:Workspace workspace",
        "workspace gcp:projects/iAMMember:IAMMember logs-group:ml@acme.example",
        "workspace gcp:projects/iAMMember:IAMMember metrics-group:ml@acme.example",
        "workspace gcp:projects/iAMMember:IAMMember quota-group:ml@acme.example",
        "workspace gcp:projects/iAMMember:IAMMember submit-group:ml@acme.example",
        "workspace gcp:serviceaccount/account:Account trainer",
        "workspace gcp:serviceaccount/iAMMember:IAMMember act-as-trainer-group:ml@acme.example",
        "workspace gcp:storage/bucket:Bucket catalog",
        "workspace gcp:storage/bucket:Bucket work",
        "workspace gcp:storage/bucketIAMMember:BucketIAMMember creates-work-group:ml@acme.example",
        "workspace gcp:storage/bucketIAMMember:BucketIAMMember reads-catalog-group:ml@acme.example",
        "workspace gcp:storage/bucketIAMMember:BucketIAMMember reads-work-group:ml@acme.example",
        "workspace gcp:storage/bucketIAMMember:BucketIAMMember trainer-reads-catalog",
        "workspace gcp:storage/bucketIAMMember:BucketIAMMember trainer-writes-work",
    ]
    assert (guard.NAME, hooks.MAKES) == ("slipway-guard-v1", "slipway-create-v1")


def test_each_kind_of_error_has_its_code() -> None:
    kinds = (
        variable
        for variable in vars(errors).values()
        if isinstance(variable, type) and issubclass(variable, SlipwayError)
    )
    assert {kind.__name__: kind.exit_code for kind in kinds} == {
        "SlipwayError": 1,
        "ConfigError": 2,
        "AuthError": 3,
        "ResourceError": 4,
        "PolicyError": 5,
        "Cancelled": 8,
        "JobTimeout": 9,
        "WaitTimeout": 9,
        "AnswerUnknown": 75,
        "Interrupted": 130,
        "Terminated": 143,
    }
