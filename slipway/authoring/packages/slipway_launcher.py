"""Starts a job's code exactly once per submission, however often the submission was sent, and keeps what it writes.

Every replica runs this module first. It creates the object `--claim` with `ifGenerationMatch=0` and the job's id as
content: whoever creates it owns the submission. Finding its own id there means another replica or an earlier attempt of
the same job was first: go on. Finding another job's id means that this job is a copy, and finding `moved` that the
submission was given up here and runs elsewhere: say so and exit 0. Finding `cancelled`, or the mark of a job of another
kind that was sent by the same request id, the job ends as one that has not run.

Of a job's replicas the chief has a mark of its own below the claim, which tells it of an earlier start.

The trials of a tuning job are jobs of their own. Whichever is first marks the submission's claim with `trials`, so
that it can't be given up any more, and each has a claim of its own beneath it.

A secret comes as a reference, `NAME__SECRET=projects/…/secrets/…/versions/…`. Its value is read with the replica's
own identity and stands in `NAME` of the job's code alone.

An input comes as an address, `SLIPWAY_INPUT_NAME=gs://…`, and is copied to the machine's disk before the code starts.

The code finds a folder in `$SLIPWAY_OUTPUT`. What it writes there is kept in the job's output: every few seconds, when
the machine gives notice (SIGTERM), and at the end, however it ends. A file is kept as it was at one moment, and in the
order in which files were written. A replica that is started again finds there what it had kept, and what the chief had.

It runs a package's module in one of Vertex AI's images, and a command in the folder that the submission or the package
brought, without a shell; somebody's own image has a command, too.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import site
import sys
import tempfile
import threading
import time
import urllib.parse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Iterable, Mapping, Sequence  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_attempts import SETTINGS, Attempts, asked_for
from slipway.authoring.packages.slipway_beside import Beside
from slipway.authoring.packages.slipway_command import SCRIPT, Command, described, fetched, installed, scripted, sources
from slipway.authoring.packages.slipway_http import StorageError, account, call, patiently, storage_base, text, token
from slipway.authoring.packages.slipway_idle import ENDED, USE_THEM, IdleError, Idleness
from slipway.authoring.packages.slipway_index import install, wanted
from slipway.authoring.packages.slipway_inputs import copied, fix
from slipway.authoring.packages.slipway_notify import REASON, YIELDED, Teller
from slipway.authoring.packages.slipway_race import assemble
from slipway.authoring.packages.slipway_results import CHIEF, EVERY_S, RESTS_S, Results, say
from slipway.authoring.packages.slipway_start import PYTHON_PATH, meaning, problem, searched
from slipway.authoring.packages.slipway_storage import ROLE, RefusedError, Storage, quoted, split
from slipway.authoring.packages.slipway_yield import Room

SECRET, READER = "__SECRET", "roles/secretmanager.secretAccessor"
MAKE = "if there is no such secret, gcloud secrets create {} --data-file=FILE"
GRANT = f"gcloud secrets add-iam-policy-binding {{}} --role={READER} --member=serviceAccount:{{}}"
NOTIFICATION = "SLIPWAY_NOTIFICATION"
MOVED, CANCELLED, TRIALS = "moved", "cancelled", "trials"
CANNOT_TELL = 70  # EX_SOFTWARE of sysexits: told apart from a user's code and from a signal
LOOK_S = 0.5
OWN_PORT = 29500
"""The port at which processes of one machine meet, torch's own default."""


def settle(
    claim: str, job: str, environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep
) -> tuple[str, bool]:
    """The id of the job that holds `claim` (`gs://bucket/name`), after a try to take it for `job`; whether it was taken
    before. Tried again while the trouble may pass. Raises StorageError where it could be neither created nor read, so
    that running might run the submission twice."""
    base, (bucket, name) = storage_base(environ), map(quoted, split(claim))
    create = f"{base}/upload/storage/v1/b/{bucket}/o?uploadType=media&ifGenerationMatch=0&name={name}"

    def once() -> tuple[str, bool]:
        bearer = token(environ)
        try:
            call("POST", create, bearer, text, job.encode())
            return job, False
        except StorageError as error:
            if error.code != 412:
                raise
        try:
            return call("GET", f"{base}/storage/v1/b/{bucket}/o/{name}?alt=media", bearer, text).strip(), True
        except StorageError as error:
            if error.code != 404:
                raise
            raise OSError(str(error)) from error  # The claim went away in between.

    outcome: tuple[str, bool] = patiently(once, sleep)
    return outcome


def secret(name: str, environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> str:
    """The text of a secret's version. Raises StorageError."""
    base = environ.get("GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT", "https://secretmanager.googleapis.com/v1/")
    url = f"{base.rstrip('/')}/{urllib.parse.quote(name)}:access"
    try:
        answer = patiently(lambda: call("GET", url, token(environ), json.load)["payload"]["data"], sleep)
        return base64.b64decode(answer).decode()
    except UnicodeDecodeError:
        raise StorageError("its value is not text, which an environment variable must be") from None
    except StorageError as error:
        if error.code != 403:
            raise
        who = patiently(lambda: account("email", environ), sleep)
        raise StorageError(f"{who} needs {READER} on it: {error}", 403) from None


def secrets(environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> dict[str, str]:
    """The value of each secret that `environ` refers to, by its variable; raises RefusedError, never with a value."""
    values = {}
    for variable, reference in environ.items():
        if variable.endswith(SECRET) and variable != SECRET:
            try:
                values[variable[: -len(SECRET)]] = secret(reference, environ, sleep)
            except StorageError as error:
                name = reference.partition("/versions/")[0]
                way = f"see that it has a version, which is text; {MAKE.format(name)}"
                if error.code == 403:  # So Secret Manager also answers who may not know that a secret is missing.
                    way = f"{GRANT.format(name, account('email', environ))}; {MAKE.format(name)} first"
                what = "a secret of this job can't be read, so the job does not start"
                raise RefusedError(what, f"{reference}: {error}", f"{way}, then submit again") from error
    return values


def teller(claim: str, job: str, environ: Mapping[str, str]) -> Teller:
    """Tells of this job whom the submission's record names."""
    own = f"{job} {replica(environ)} {os.urandom(4).hex()}"
    return Teller(
        environ.get(NOTIFICATION, ""),
        claim,
        read=lambda reference: secret(reference, environ).strip(),
        take=lambda mark: settle(mark, own, environ)[0] == own,
        say=say,
        listed=lambda folder: [entry["name"] for entry in Storage(environ).listed(*split(folder))],
    )


def arguments(argv: list[str]) -> argparse.Namespace:
    """`claim`, `module`, `command`, `code`, `path`, and in `rest` the arguments of the module or the command; exits 2
    with usage when they make no sense."""
    parser = argparse.ArgumentParser(prog="slipway_launcher", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claim", required=True, help="gs:// object that marks the submission as taken")
    started = parser.add_mutually_exclusive_group(required=True)
    started.add_argument("--module", help="the module to run, as with python -m")
    started.add_argument("--exec", dest="command", action="append", help="a word of the command to run, each by itself")
    parser.add_argument("--code", default="", help="gs:// archive of the folder that the command runs in")
    parser.add_argument("--path", default="PYTHONPATH", help="the variable in which that folder comes first")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="-- and the arguments")
    known = parser.parse_args(argv)
    known.rest = known.rest[1:] if known.rest[:1] == ["--"] else known.rest
    return known


def refuse(what: str, why: str, fix: str) -> int:
    """Says on stderr what went wrong, and what to do."""
    print(f"error: {what}\n  why: {why}\n  fix: {fix}", file=sys.stderr, flush=True)
    return CANNOT_TELL


def replica(environ: Mapping[str, str]) -> str:
    """The replica's name, as `workerpool1-0`, by the service's CLUSTER_SPEC."""
    task = json.loads(environ.get("CLUSTER_SPEC", "{}")).get("task", {})
    kind = task.get("type", "chief")
    return CHIEF if kind == "chief" else f"{kind}-{task.get('index', 0)}"


def cluster(environ: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    """The addresses of a job's replicas by worker pool, of jobs with several, by the service's CLUSTER_SPEC."""
    pools: Mapping[str, Sequence[str]] = json.loads(environ.get("CLUSTER_SPEC", "{}")).get("cluster", {})
    return pools


def role(roles: Iterable[str], environ: Mapping[str, str]) -> str:
    """The replica's name as the log has it, by the worker pools' roles: `workers-0`, or `workers` for the only one."""
    pool, _, index = replica(environ).rpartition("-")
    named = {f"workerpool{place}": name for place, name in enumerate(roles)}.get(pool, "")
    return named if named and len(cluster(environ).get(pool, ())) < 2 else f"{named or pool}-{index}"


@dataclass(frozen=True)
class Start:
    """A start of a job's replica: its command as words, and what belongs to it. `again`: the job was started before.
    `room`: None where it never makes room for another job."""

    words: Sequence[str]
    environ: Mapping[str, str]
    asked: argparse.Namespace
    tells: Teller
    attempts: Attempts
    again: bool
    room: Room | None = None


def run(start: Start) -> int:
    """The exit code of a command's last attempt, with all kept that it wrote to $SLIPWAY_OUTPUT; CANNOT_TELL when
    something is not. Of a script, that nothing was written is said as well."""
    words, environ, asked, tells, attempts = start.words, start.environ, start.asked, start.tells, start.attempts
    output = environ.get("AIP_MODEL_DIR", "").rstrip("/")
    output = output[: -len("/model")] if output.endswith("/model") else ""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    place = Path(tempfile.mkdtemp(prefix="slipway-", dir=home if os.access(home, os.W_OK) else None))
    try:
        results = restored(place, output, environ, again=start.again)
        script = asked.module == SCRIPT
        folder = fetched(asked.code, place, environ) if asked.code or script else None
        variables = {**environ, "SLIPWAY_OUTPUT": str(results.folder), **found_in(folder, place, asked, environ)}
        variables.update(copied(place, environ))
        variables = {**of_single_replica(environ), **variables}
        if script:
            words = scripted(asked.rest)
            variables.setdefault("PYTHONUNBUFFERED", "1")
            if data := variables.get("SLIPWAY_INPUT_DATA"):
                variables["SLIPWAY_DATA"] = data
        before: Command | None = None
        beside = Beside(folder)
        idle = Idleness.asked_for(environ)
        while True:
            command = started(words, variables, results, folder, copied=bool(tells.asks))
            if before and before.noticed:
                command.forward()
            code = followed(command, results, attempts, idle, start.room, told=script)
            beside.report()
            tells.noticed, tells.lines = command.noticed, command.errors
            if start.room and start.room.left():
                if replica(environ) == CHIEF and tells.asks:
                    tells.tell(YIELDED, start.room.why, mark=f"-{start.room.number}")
                tells.noticed = True  # Another job tells how it ends.
                return 0
            if idle and idle.why and not command.noticed:
                raise IdleError("the job was ended", idle.why, USE_THEM)
            if (place / REASON).is_file():
                tells.why = (place / REASON).read_text(encoding="utf-8")
            try:
                if not attempts.again(command, code, chief=replica(environ) == CHIEF):
                    return code
            except StorageError as error:
                say(f"not tried again, as it can't be told how often it was: {error}")
                return code
            say(f"attempt {attempts.number + 1} of {attempts.most + 1} begins, as the last one failed")
            tells.retried(code, role(tells.asks.get("roles", ()), environ), attempts.number, attempts.most)
            before = command
            if output and not results.failed:  # As after a lost machine it finds what is whole.
                shutil.rmtree(results.folder)
                results = restored(place, output, environ, again=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def of_single_replica(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of a job that asks for one replica, as the service sets them for several."""
    asked = json.loads(environ.get(SETTINGS, "{}")).get("replicas")
    known = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(OWN_PORT)}
    return known if asked == 1 else {}


def found_in(
    folder: Path | None, place: Path, asked: argparse.Namespace, environ: Mapping[str, str]
) -> Mapping[str, str]:
    """The variables with which a command finds the modules and the programs of its folder."""
    if folder is None:
        return {}
    own = [str(folder), *sources_of(folder), *(str(folder / inner) for inner in sources()), *described(place)]
    if asked.path != PYTHON_PATH:
        return {asked.path: os.pathsep.join(filter(None, [*own, environ.get(asked.path)]))}
    variables = {**searched(own, place, environ)}
    if asked.module == SCRIPT:
        by_user = str(Path(site.getuserbase(), "bin"))  # Packages for a user have their programs there.
        programs = (str(installed(folder, place)), by_user, os.path.dirname(sys.executable))  # noqa: PTH120 - it may be a link
        variables["PATH"] = os.pathsep.join([*programs, environ.get("PATH", os.defpath)])
    return variables


def sources_of(folder: Path) -> Sequence[str]:
    """The folder `src` of a project, from which an installer takes its packages; none for one that is a package."""
    inner = folder / "src"
    is_project = any((folder / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg"))
    has_packages = any(inner.glob("*/__init__.py")) and not (inner / "__init__.py").exists()
    return [str(inner)] if is_project and has_packages else []


def restored(place: Path, output: str, environ: Mapping[str, str], *, again: bool) -> Results:
    """The folder $SLIPWAY_OUTPUT with what earlier starts and attempts have kept. Raises RefusedError."""
    results = Results(place, output, replica(environ), Storage(environ))
    try:
        earlier = results.restore() if output else []
    except StorageError as error:
        raise RefusedError(
            "what an earlier start of this job has kept can't be fetched, so the job does not start",
            f"{output}: {error}",
            ROLE,
        ) from error
    if earlier:
        names = ", ".join(earlier[:5]) + (f" and {len(earlier) - 5} more" if len(earlier) > 5 else "")
        say(f"goes on with what an earlier start has kept of $SLIPWAY_OUTPUT: {names}")
    elif again and output:
        say("starts again: no earlier start has kept anything of $SLIPWAY_OUTPUT; what it wrote elsewhere stays")
    return results


def started(
    words: Sequence[str], variables: Mapping[str, str], results: Results, folder: Path | None, *, copied: bool
) -> Command:
    """The running command. Raises RefusedError."""
    try:
        return Command(list(words), variables, results.look, folder, copied=copied, output=results.folder)
    except OSError as error:
        raise RefusedError(*problem(words, variables, folder, error)) from error


def followed(
    command: Command, results: Results, attempts: Attempts, idle: Idleness | None, room: Room | None, *, told: bool
) -> int:
    """The command's exit code at its end, with all results kept."""
    results.ending, over = command.ending, threading.Event()
    watcher = threading.Thread(target=watch, args=(command, results, over, attempts.called), daemon=True)
    watcher.start()
    if idle:
        threading.Thread(target=idle.watch, args=(command, over), daemon=True).start()
    watchers = [watcher]
    if room:
        watchers.append(threading.Thread(target=room.watch, args=(command, over), daemon=True))
        watchers[-1].start()
    code, killed = command.wait()
    results.suspects = command.suspects()
    over.set()
    for each in watchers:
        each.join()
    try:
        results.keep(ended=True, killed=killed)
    except (OSError, StorageError) as error:
        results.failed = True
        unkept = refuse(
            f"not all that the command wrote is kept; it ended with {code}",
            f"{results.uri or 'the job has no output directory'}: {error}",
            ROLE,
        )
        return code or unkept
    for name, (_, why) in results.unkept.items():
        say(f"not kept: {name}: {why}")
    if results.kept or told:
        nothing = "" if results.kept or results.unkept else ", as nothing was written into $SLIPWAY_OUTPUT"
        say(f"the command ended with {code}{meaning(code)}; files kept: {len(results.kept)}{nothing}")
    return code or (CANNOT_TELL if results.unkept else 0)


def watch(
    command: Command, results: Results, over: threading.Event, called: Callable[[], bool] = lambda: False
) -> None:
    """Keep results while the command runs, at first oftener: a machine may go soon. What can't be kept now is tried
    again, at the end at the latest. Once it is `called` to the next attempt, the command is stopped."""

    def pause(seconds: float) -> None:
        if over.wait(seconds):
            raise StorageError("the command has ended")

    every = LOOK_S
    due = time.monotonic() + every
    while not over.wait(LOOK_S):
        began = time.monotonic()
        if not command.noticed and began < due:
            continue
        try:
            results.keep(pause)
            if called():
                command.stop()
        except (OSError, StorageError) as error:
            if not over.is_set():
                say(f"not kept yet: {error}")
        now = time.monotonic()
        every = min(2 * every, EVERY_S)
        due = now + max(every, now - began)  # What takes long to keep is kept half of the time at most.
        for name, (since, why) in results.unkept.items():
            if now - since > RESTS_S:
                results.say_once(f"not kept for a while: {name}: {why}")


def begin(start: Start) -> int:
    """The exit code of a command, or CANNOT_TELL where it does not start; whoever wants to be told is."""
    why, environ, tells = "", start.environ, start.tells
    if not start.again:
        tells.started()
    try:
        install(wanted(), environ)
        values = secrets(environ)
        tells.hidden = tuple(values.values())
        code = run(replace(start, environ={**environ, **values}))
    except IdleError as problem:
        refuse(*problem.args)
        code, why = ENDED, ": ".join(problem.args[:2])
    except (RefusedError, OSError) as problem:
        full = ("the files of this job can't be put on its machine, so it does not start", str(problem))
        refused = problem.args if isinstance(problem, RefusedError) else (*full, fix(problem, "", environ))
        code, why = refuse(*refused), ": ".join(refused[:2])
    who = role(tells.asks.get("roles", ()), environ)
    tells.ended(code, why, who, chief=replica(environ) == CHIEF)
    return code


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    """0 for a copy, CANNOT_TELL when unsure; otherwise the exit code of what it runs."""
    asked = arguments(argv)
    claim, words = asked.claim, [*(asked.command or (sys.executable, "-m", asked.module)), *asked.rest]
    job = environ.get("CLOUD_ML_JOB_ID", "")
    if not job:
        return refuse(
            "CLOUD_ML_JOB_ID is not set",
            "the claim holds the job's id, which Vertex AI puts there",
            f"outside of Vertex AI run it by itself: {' '.join(words)}",
        )
    trial = environ.get("CLOUD_ML_TRIAL_ID", "")
    attempts = None
    replicas = sum(map(len, cluster(environ).values()))
    room = None if trial else Room.asked_for(claim, replica(environ), max(1, replicas), environ)
    try:
        owner, again = job, False
        if trial:
            mark, _ = settle(claim, TRIALS, environ)
            owner = job if mark == TRIALS else mark
        before = room.turn() if room else ""
        if before:
            owner, _ = settle(claim, before, environ)
        if owner == job:
            assemble(claim, job, replica(environ), replicas, environ)
            place = f"{claim}/{trial}" if trial else claim
            owner, again = settle(place, job, environ)
            # Of several replicas another one may have been the first there.
            others = replicas > 1
            if owner == job and others:
                again = replica(environ) == CHIEF and settle(f"{place}/{CHIEF}", job, environ)[1]
            if owner == job and room and room.made():
                say(f"{room.why}: nothing to do here")
                room.left()
                return 0
            if owner == job:
                attempts = Attempts(
                    *asked_for(environ),
                    take=lambda mark: settle(f"{place}/{mark}", job, environ),
                    marks=lambda: [entry["name"] for entry in Storage(environ).listed(*split(place))],
                    others=others,
                )
    except RefusedError as refused:
        return refuse(*refused.args)
    except StorageError as error:
        return refuse(
            "can't tell whether this submission runs already, so the job does not start",
            f"{claim}: {error}",
            ROLE,
        )
    if attempts:
        return begin(Start(words, environ, asked, teller(claim, job, environ), attempts, again, room))
    ends = {MOVED: "given up for another capacity type", CANCELLED: "cancelled before it began"}
    why = ends.get(owner, f"a copy of job {owner}, which runs this submission")
    say(f"{why}: nothing to do here")
    # Clients of before images had launchers take a job of one that ended well for the submission itself.
    return CANNOT_TELL if owner == CANCELLED or "/" in owner or (owner == MOVED and asked.command) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
