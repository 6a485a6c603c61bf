"""Jobs as the service tells of them, whoever made them."""

from slipway.cloud.resources import CustomJob
from slipway.kinds import KINDS


def test_a_name_is_one_line_and_commands_no_terminal() -> None:
    """The service takes any text for a name, and everybody's jobs are listed together."""
    assert CustomJob.read({"displayName": "läuft 🚀 \x1b[31mred\nrm -rf"}).display_name == "läuft 🚀 ?[31mred?rm -rf"


def test_what_a_job_needs_is_told_whatever_its_kind() -> None:  # N1
    """A deployment keeps it until the job has ended."""
    affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "values": ["projects/p/zones/z/reservations/r"]}
    pool = {
        "replicaCount": 1,
        "machineSpec": {"machineType": "a3-highgpu-8g", "reservationAffinity": affinity},
        "pythonPackageSpec": {
            "packageUris": ["gs://acme-catalog/packages/nap.tar.gz"],
            "env": [{"name": "SLIPWAY_PARAMETERS", "value": '{"trees":500}'}],
        },
    }
    spec = {"serviceAccount": "trainer@acme.iam.gserviceaccount.com", "workerPoolSpecs": [pool, {}]}
    for kind in KINDS.values():
        job = CustomJob.read({kind.spec: spec}, kind)
        assert job.service_account == "trainer@acme.iam.gserviceaccount.com"
        assert job.packages == {"gs://acme-catalog/packages/nap.tar.gz"}
        assert job.reservations == {"projects/p/zones/z/reservations/r"}
        assert job.buckets == {"acme-catalog"}
        assert job.parameters == {"trees": 500}
