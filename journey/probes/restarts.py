"""Probes of restarts, read from the lines that replicas log when they begin."""

from __future__ import annotations

from datetime import datetime

from journey.probes.probe import Finding, Probe, Value, unknown
from journey.probes.service import ENDED, Service, error_of
from slipway.google.logging import LogEntry

CODES = (1, 129, 130, 137, 143)
"""Exit codes to try: one of a program's own, and those of the signals HUP, INT, KILL and TERM."""
_CHIEF, _WORKER = "workerpool0-0", "workerpool1-0"
_MINUTES_A_CODE = 6


def begins(lines: tuple[LogEntry, ...], task: str) -> list[datetime]:
    """Return the times at which a replica began."""
    return [line.timestamp for line in lines if line.task == task and line.text == "probe begins" and line.timestamp]


def worker_restarts(service: Service) -> Finding:
    """Run a job whose worker ends with SIGTERM's code each time it begins."""
    workers = service.worker("hold 7200"), service.worker("exit 143 2")
    said = service.make_job("restarts", *workers, cluster=service.cluster)
    if not said.ok:
        return unknown("the job was refused", str(said))
    with service.ending(said.name):
        body = service.ended(said.name, 55)
    service.until(lambda: True if len(begins(service.lines(said.name), _WORKER)) > 1 else None, 3)
    lines = service.lines(said.name)
    chief, worker = begins(lines, _CHIEF), begins(lines, _WORKER)
    evidence = f"the worker began {len(worker)} times, the chief {len(chief)} times"
    if body is None:
        return unknown("it went on for longer than 55 minutes", evidence)
    evidence += f"; {body['state']} {error_of(body)}"
    if not chief or len(worker) % len(chief):
        return unknown("lines of the job are missing", evidence)
    found: dict[str, Value] = {"worker_restarts": len(worker) // len(chief) - 1}
    answer = f"{len(worker) // len(chief) - 1} times in its place"
    ends = [line.timestamp for line in lines if line.task == _WORKER and line.text == "probe ends" and line.timestamp]
    if found["worker_restarts"] and ends:
        away = (worker[1] - ends[0]).total_seconds()
        found["worker_restart_seconds"] = round(max(0.0, away), 1)
        answer += f", away for {away:.0f} s"
    return Finding(answer, evidence, found)


def job_retries(service: Service) -> Finding:
    """Run a job that crashes with SIGABRT's code each time it begins."""
    said = service.make_job("retries", service.worker("exit 134 2"), cluster=service.cluster)
    if not said.ok:
        return unknown("the job was refused", str(said))
    with service.ending(said.name):
        body = service.ended(said.name, 40)
    service.until(lambda: begins(service.lines(said.name), _CHIEF) or None, 3)
    service.sleep(service.poll)
    count = len(begins(service.lines(said.name), _CHIEF))
    if body is None or not count:
        return unknown("it went on for longer than 40 minutes, or its lines are missing", f"it began {count} times")
    return Finding(
        f"{count - 1} times", f"it began {count} times; {body['state']} {error_of(body)}", {"job_retries": count - 1}
    )


def restart_codes(service: Service) -> Finding:
    """Run a job for each code, whose worker ends with it."""
    again, told = [], []
    for code in CODES:
        workers = service.worker("hold 1800"), service.worker(f"exit {code} 2")
        said = service.make_job(f"code-{code}", *workers, cluster=service.cluster)
        if not said.ok:
            return unknown(f"the job for code {code} was refused", str(said))
        with service.ending(said.name):
            seen = service.until(lambda name=said.name: _seen(service, name), _MINUTES_A_CODE)  # type: ignore[misc]
        if seen is None:
            return unknown(f"the worker that ended with {code} neither began again nor was the job over in time")
        told.append(f"{code}: {seen}")
        again += [str(code)] if seen == "restarted" else []
    return Finding(",".join(again) or "none", "; ".join(told), {"worker_restart_codes": ",".join(again)})


def _seen(service: Service, name: str) -> str | None:
    state, lines = service.state(name), service.lines(name)
    chief, worker = begins(lines, _CHIEF), begins(lines, _WORKER)
    if len(worker) > max(1, len(chief)):
        return "restarted"
    if len(chief) > 1:
        return "the whole job again"
    return state.removeprefix("JOB_STATE_").lower() if state in ENDED else None


PROBES = (
    Probe(
        "worker-restarts",
        "How often is a worker restarted in its place, and how long is it away?",
        "3.4, user code: which errors are not permanent",
        ("worker_restarts", "worker_restart_seconds"),
        "has a worker end by the code of SIGTERM each time, and counts in the log how often it begins",
        60,
        worker_restarts,
        on_cluster=True,
    ),
    Probe(
        "job-retries",
        "How often is a job that crashes tried again?",
        "3.4, SIGABRT and SIGSEGV",
        ("job_retries",),
        "has a job end by the code of SIGABRT each time, and counts in the log how often it begins",
        45,
        job_retries,
        on_cluster=True,
    ),
    Probe(
        "restart-codes",
        "Which exit codes of a worker are no permanent errors?",
        "3.4, 5 restarts per worker for non-permanent errors",
        ("worker_restart_codes",),
        f"has workers end with {', '.join(map(str, CODES))}, each in a job of its own",
        len(CODES) * (_MINUTES_A_CODE + 2),
        restart_codes,
        on_cluster=True,
    ),
)
