"""Probes of jobs on a cluster and beside it: a full pool, an account, a time-out, machines of a job's own, the end."""

from __future__ import annotations

from journey.probes.probe import Finding, Probe, Value, unknown
from journey.probes.service import ACCOUNT, ENDED, Said, Service, error_of, seconds_between
from slipway.google.failures import Call, NotFound
from slipway.model.machines.spec import Disk, MachineSpec

_WAITING = ("JOB_STATE_QUEUED", "JOB_STATE_PENDING")
_STATES = ("JOB_STATE_CANCELLED", "JOB_STATE_FAILED")


def full_pool(service: Service) -> Finding:
    """Run a job on all machines of the shared cluster, then ask for one more."""
    first = service.make_job("holds", service.worker("hold 1800"), service.worker("hold 1800"), cluster=service.cluster)
    if not first.ok:
        return unknown("the job that was to fill the pool was refused", str(first))
    with service.ending(first.name):
        if not service.running(first.name, 15):
            return unknown("the job that was to fill the pool did not run within 15 minutes")
        second = service.make_job("waits", service.worker("hold 1"), cluster=service.cluster)
        if not second.ok:
            settings = {"full_pool": "reject"} if second.status == 429 else {}
            return Finding("refused" if settings else "unknown: refused for another reason", str(second), settings)
        with service.ending(second.name):
            return _waits(service, first, second)


def _waits(service: Service, first: Said, second: Said) -> Finding:
    body = service.reaches(second.name, ENDED | {"JOB_STATE_RUNNING"}, 2) or service.job(second.name)
    state, beside = str(body.get("state", "")), service.state(first.name)
    evidence = f"{state} {error_of(body)} while the first was {beside}".replace("  ", " ")
    if state in _WAITING and beside == "JOB_STATE_RUNNING":
        return Finding("accepted, and waits", evidence, {"full_pool": "queue"})
    return unknown("it neither waited nor was refused at once", evidence)


def job_account(service: Service) -> Finding:
    """Send a job with a service account to the shared cluster, which has no custom ones."""
    email = f"{ACCOUNT}@{service.project}.iam.gserviceaccount.com"
    url = f"{service.connection.endpoints.of('iam')}projects/{service.project}/serviceAccounts"
    made = service.post("make a service account", url, {"accountId": ACCOUNT})
    if not made.ok and made.status != 409:
        return unknown("no service account could be made for it", str(made))
    try:

        def sent() -> Said | None:
            said = service.make_job("account", service.worker("hold 1"), cluster=service.cluster, serviceAccount=email)
            new = not said.ok and "does not exist" in said.message and email in said.message
            return None if new else said

        said = service.until(sent, 3)
        if said is None:
            return unknown("the service account could not be used within three minutes of being made")
        with service.ending(said.name):
            if said.ok:
                return Finding("accepted", str(said), {"job_service_account": "accept"})
        if said.status == 400:
            return Finding("refused", str(said), {"job_service_account": "reject"})
        return unknown("refused for another reason", str(said))
    finally:
        delete_account(service)


def delete_account(service: Service) -> None:
    """Delete the account that a probe made, if it exists."""
    email = f"{ACCOUNT}@{service.project}.iam.gserviceaccount.com"
    url = f"{service.connection.endpoints.of('iam')}projects/{service.project}/serviceAccounts/{email}"
    try:
        service.connection.session.delete(url, Call(f"delete {email}", "iam.serviceAccounts.delete", email))
    except NotFound:
        return


def timeout_state(service: Service) -> Finding:
    """Run a job that sleeps, with a time-out of a minute."""
    said = service.make_job(
        "timeout", service.worker("hold 1800"), cluster=service.cluster, scheduling={"timeout": "60s"}
    )
    if not said.ok:
        return unknown("the job was refused", str(said))
    with service.ending(said.name):
        body = service.ended(said.name, 20)
    if body is None:
        return unknown("it still ran 20 minutes after a time-out of one")
    state = str(body["state"])
    evidence = f"{state} {error_of(body)}"
    if state in _STATES:
        return Finding(state, evidence, {"timeout_state": state})
    return unknown("it ended in a state that the setting has not", evidence)


def machine_seconds(service: Service) -> Finding:
    """Run a job that ends at once, on a machine of its own."""
    said = service.make_job("machine", service.worker("exit 0"))
    if not said.ok:
        return unknown("the job was refused", str(said))
    with service.ending(said.name):
        body = service.reaches(said.name, ENDED, 25) or {}
    waited = seconds_between(body.get("createTime"), body.get("startTime"))
    if waited is None:
        return unknown("it did not run within 25 minutes", error_of(body))
    evidence = f"createTime {body['createTime']}, startTime {body['startTime']}; the image's download is in it"
    return Finding(f"{waited:.0f} s", evidence, {"machine_seconds": round(waited, 1)})


def kill_grace(service: Service) -> Finding:
    """Cancel a job that ignores the signal and logs four times a second that it still lives."""
    said = service.make_job("lingers", service.worker("linger 1800"), cluster=service.cluster)
    if not said.ok:
        return unknown("the job was refused", str(said))
    with service.ending(said.name):
        if not service.running(said.name, 15):
            return unknown("the job did not run within 15 minutes")
        service.until(lambda: service.lines(said.name) or None, 3)
        service.cancel(said.name)
        service.ended(said.name, 10)
    service.until(lambda: True if len(service.lines(said.name)) > 1 else None, 3)
    service.sleep(service.poll)
    lines = [line for line in service.lines(said.name) if line.timestamp]
    after = next((at for at, line in enumerate(lines) if "sigterm" in line.text), None)
    if after is None:
        return unknown("no line tells of a SIGTERM: there was none, or the line was lost", f"{len(lines)} lines")
    lived = seconds_between(lines[after].stamp, lines[-1].stamp) or 0.0
    return Finding(f"{lived:.1f} s", f"{len(lines) - after} lines after SIGTERM", {"kill_grace_seconds": round(lived)})


def env_values(service: Service) -> Finding:
    """Send a job with an apostrophe in a variable, then one with an empty variable, and cancel what is accepted."""
    settings: dict[str, Value] = {}
    evidence: list[str] = []
    for setting, value in (("env_apostrophe", "don't"), ("env_blank", "")):
        worker = service.worker("exit 0")
        task = {**worker["containerSpec"], "env": [{"name": "PROBE", "value": value}]}
        said = service.make_job("env", {**worker, "containerSpec": task})
        with service.ending(said.name):
            if said.ok or said.status == 400:
                settings[setting] = "accept" if said.ok else "reject"
        evidence.append(f"{value!r}: {said}")
    told = "; ".join(f"{name}: {value}" for name, value in settings.items())
    return Finding(told or "unknown: refused for another reason", "; ".join(evidence), settings)


def machine_disk(service: Service) -> Finding:
    """Send a job for the smallest machine of a family that Compute Engine gives hyperdisks alone, with an SSD
    persistent disk, and cancel it."""
    machine = MachineSpec("n4-standard-2", disk=Disk("pd-ssd"))
    said = service.make_job("disk", {**service.worker("exit 0"), **machine.request()})
    with service.ending(said.name):
        if not said.ok:
            refused = said.status == 400 and "disk" in said.message.lower()
            settings: dict[str, Value] = {"machine_disk": "reject"} if refused else {}
            return Finding("refused" if refused else "unknown: refused for another reason", str(said), settings)
        body = service.reaches(said.name, ENDED | {"JOB_STATE_RUNNING"}, 25) or {}
    evidence = f"{said}, then {body.get('state', 'no state')} {error_of(body)}".rstrip()
    if body.get("startTime"):
        return Finding("accepted, and runs", evidence, {"machine_disk": "accept"})
    return unknown("accepted, and did not run within 25 minutes", evidence)


PROBES = (
    Probe(
        "full-pool",
        "Does a job for a full pool wait, or is it refused?",
        "2, queueing when full; 11",
        ("full_pool",),
        "fills the shared cluster with one job and sends another",
        30,
        full_pool,
        on_cluster=True,
    ),
    Probe(
        "job-account",
        "Is a job's own service account accepted on a cluster without custom ones?",
        "2, service account; 11",
        ("job_service_account",),
        "makes a service account, sends a job with it, cancels the job, deletes the account",
        15,
        job_account,
        on_cluster=True,
    ),
    Probe(
        "timeout-state",
        "In which state is a job after its time-out?",
        "3.3, 3.4: not said",
        ("timeout_state",),
        "sends a job that sleeps, with a time-out of a minute",
        30,
        timeout_state,
        on_cluster=True,
    ),
    Probe(
        "env-values",
        "Does a variable of the environment take an apostrophe, and no value?",
        "3.2, env: not said",
        ("env_apostrophe", "env_blank"),
        "sends two jobs for one small machine, each with one variable, and cancels those that are accepted",
        15,
        env_values,
        machines=1,
    ),
    Probe(
        "machine-disk",
        "Is a boot disk refused that Compute Engine does not give the machine?",
        "7.1, disk: inferred for all but A3 Ultra and A4",
        ("machine_disk",),
        "sends a job for one n4-standard-2 with pd-ssd, and cancels it",
        30,
        machine_disk,
        machines=1,
    ),
    Probe(
        "machine-seconds",
        "How long does a machine of a job's own take?",
        "2, startup: 5 to 10 minutes and more",
        ("machine_seconds",),
        "sends a job without a cluster that ends at once",
        30,
        machine_seconds,
        machines=1,
    ),
    Probe(
        "kill-grace",
        "How long may a replica take to end after SIGTERM?",
        "3.4: not said",
        ("kill_grace_seconds",),
        "cancels a job that will not end, and reads in its log how long it lived",
        35,
        kill_grace,
        on_cluster=True,
    ),
)
