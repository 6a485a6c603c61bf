"""The probe of a tuning job whose trials all fail."""

from __future__ import annotations

from journey.probes.probe import Finding, Probe, unknown
from journey.probes.service import STACK, Service, error_of
from slipway.model.kinds import TUNING_JOB
from slipway.model.labels import STACK_LABEL

_TRIALS = 12


def failed_trials(service: Service) -> Finding:
    """Run trials that fail one after another, in a job that leaves to the service how many may."""
    parameter = {
        "parameterId": "x",
        "doubleValueSpec": {"minValue": 0.0, "maxValue": 1.0},
        "scaleType": "UNIT_LINEAR_SCALE",
    }
    body = {
        "displayName": "probe-trials",
        "labels": {STACK_LABEL: STACK},
        "studySpec": {"metrics": [{"metricId": "m", "goal": "MAXIMIZE"}], "parameters": [parameter]},
        "maxTrialCount": _TRIALS,
        "parallelTrialCount": 1,
        "trialJobSpec": {"workerPoolSpecs": [service.worker("exit 1 0")], "persistentResourceId": service.cluster},
    }
    said = service.post("submit probe-trials", f"{service.url}/{TUNING_JOB.collection}", body)
    if not said.ok:
        return unknown("the tuning job was refused", str(said))
    with service.ending(said.name):
        job = service.ended(said.name, 55)
    if job is None:
        return unknown("it went on for longer than 55 minutes")
    trials = [str(trial.get("state")) for trial in job.get("trials", ())]
    failed = trials.count("INFEASIBLE")
    evidence = f"{job['state']} {error_of(job)}; {failed} of {len(trials)} trials INFEASIBLE"
    if job["state"] == "JOB_STATE_FAILED" and 0 < failed < _TRIALS:
        return Finding(f"{failed} end the job", evidence, {"failed_trials": failed})
    return unknown(f"the job was not ended by its failed trials before all {_TRIALS} had been tried", evidence)


PROBES = (
    Probe(
        "failed-trials",
        "How many failed trials end a tuning job that leaves their number to the service?",
        "5.1, maxFailedTrialCount 0 = service decides",
        ("failed_trials",),
        f"starts a tuning job of up to {_TRIALS} trials that all fail, one at a time",
        65,
        failed_trials,
        on_cluster=True,
    ),
)
