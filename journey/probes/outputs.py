"""The probe of a job's output bucket: one that is not there, and one that is not in the job's region alone."""

from __future__ import annotations

from journey.probes.probe import Finding, Probe, Value
from journey.probes.service import STACK, Said, Service
from slipway.google.failures import Call, NotFound


def bucket_of(project: str) -> str:
    """Return the bucket that the probe makes, and deletes."""
    return f"{project.rpartition(':')[2]}-{STACK}"


def output_bucket(service: Service) -> Finding:
    """Send two jobs with an output in a bucket that is not there, and in one of the multi-region US, and cancel what is
    accepted."""
    name = bucket_of(service.project)
    buckets = f"{service.connection.endpoints.of('storage')}b"
    missing = _sent(service, f"{name}-none")
    made = service.post(f"make gs://{name}", buckets, {"name": name, "location": "US"}, project=service.project)
    try:
        elsewhere = _sent(service, name) if made.ok or made.status == 409 else made
    finally:
        _delete(service, f"{buckets}/{name}")
    answers = {"output_missing": missing, "output_elsewhere": elsewhere}
    settings: dict[str, Value] = {
        setting: "accept" if said.ok else "reject"
        for setting, said in answers.items()
        if said.ok or (said.status in (400, 404) and "bucket" in said.message.lower())
    }
    told = "; ".join(f"{setting}: {value}" for setting, value in settings.items())
    evidence = "; ".join(f"{setting}: {said}" for setting, said in answers.items())
    return Finding(told or "unknown: refused for another reason", evidence, settings)


def _sent(service: Service, bucket: str) -> Said:
    output = {"outputUriPrefix": f"gs://{bucket}/probe"}
    said = service.make_job("output", service.worker("exit 0"), baseOutputDirectory=output)
    with service.ending(said.name):
        return said


def _delete(service: Service, url: str) -> None:
    try:
        service.connection.session.delete(url, Call("delete the probe's bucket", "storage.buckets.delete", url))
    except NotFound:
        return


PROBES = (
    Probe(
        "output-bucket",
        "Is a job refused whose output bucket does not exist, or is in a multi-region?",
        "not said; reports of 2021 and 2023 have it refused elsewhere than in the job's region",
        ("output_missing", "output_elsewhere"),
        "makes an empty bucket in US, sends two jobs for one small machine, and cancels what is accepted",
        15,
        output_bucket,
        machines=1,
    ),
)
