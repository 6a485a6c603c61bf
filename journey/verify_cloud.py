"""`make verify-cloud PROJECT=…`: the demo's journey on a real project, with a ceiling of money and time; with
`PROBES=…`, what Google's documents leave open, asked there instead.

The price is shown and asked first; afterwards everything is taken away again, also when the journey is killed: a
watchdog apart from it does the same clean-up, and so does the next call.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import uuid
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from journey.budget import Budget, budget
from journey.guarded import guarded
from journey.machines import machines, pool_cost
from journey.probes.reservations import reserved
from journey.probes.verification import ProbeRun
from journey.project import lay_out
from journey.published import Published
from journey.sweep import Ours, Sweep
from journey.trial import TEMPLATE, per_hour, stack, values
from local.backend import file_backend
from local.demo.commands import Actor
from local.demo.leftovers import MARK, drop_dead_locks, end, marked
from local.demo.play import Play
from local.demo.report import gain, table
from local.demo.turn import turn
from slipway.authoring.stack.stack import Stack
from slipway.base.errors import Cancelled, ConfigError, SlipwayError
from slipway.base.files import write_atomically
from slipway.base.standard_output import exit_after, print_progress
from slipway.google.connection import connect

_ROOT = Path(__file__).resolve().parents[1]
_PATIENCE = 30 * 60.0
"""Seconds that jobs and clusters get to end; a persistent resource may take several minutes."""


@dataclass(frozen=True)
class Verification:
    """The verification of one project and region, and the folder that remembers it between calls."""

    declared: Stack
    folder: Path

    @property
    def run_file(self) -> Path:
        return self.folder / "run.json"

    @property
    def report(self) -> Path:
        return self.folder / "report.md"

    def play(self) -> Play:
        """Return the journey, with a backend and a passphrase of its own; the rest of the environment is the
        caller's."""
        lay_out(self.folder, _ROOT, self.declared.name, values(self.declared.project, self.declared.region))
        passphrase = self.folder / "passphrase"
        if not passphrase.exists():
            write_atomically(passphrase, secrets.token_urlsafe(24), mode=0o600)
        (self.folder / "pulumi-state").mkdir(exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name != "PULUMI_CONFIG_PASSPHRASE"}
        actor = Actor(
            "you",
            self.folder,
            {
                **environment,
                "PULUMI_BACKEND_URL": file_backend(self.folder / "pulumi-state"),
                "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase),
                "PULUMI_SKIP_UPDATE_CHECK": "true",
                "SLIPWAY_CATALOG": f"gs://{self.declared.workspace.catalog_bucket}",
                MARK: str(self.folder),
            },
        )
        return Play(self.declared, deployer=actor, submitter=actor)

    def clean_up(self) -> None:
        """Take everything away, whatever state an earlier call was killed in. Idempotent."""
        end(marked(self.folder), patience=15)
        drop_dead_locks(self.folder / "pulumi-state", _say)
        journey = self.play()
        workspace = self.declared.workspace
        project = self.declared.project
        ours = Ours(
            project=project,
            region=self.declared.region,
            stack=self.declared.identity.label,
            buckets=(workspace.catalog_bucket, workspace.work_bucket, *self.declared.work_elsewhere.values()),
            trainer=f"{workspace.trainer}@{project}.iam.gserviceaccount.com",
        )
        sweep = Sweep(connect(os.environ), ours, _say)
        sweep.end_jobs(_PATIENCE)
        sweep.empty_buckets()
        journey.deployer.run("pulumi", "stack", "select", "--create", self.declared.name)
        journey.destroy()
        sweep.delete_rest(_PATIENCE)
        journey.deployer.run("pulumi", "stack", "rm", self.declared.name, "--yes", "--force")

    def verify(self, allowed: Budget) -> None:
        """Play the journey under a watchdog, then clean up, whatever happens."""
        guarded(self.run_file, self._flags(), allowed.minutes, self._run, self.clean_up)

    def _run(self) -> None:
        journey = self.play()
        journey.deploy()
        samples = [machines(journey)]
        runs = []
        for label in ("first", "second"):
            runs.append(journey.submit(label, TEMPLATE, f"verify-{uuid.uuid4().hex[:12]}"))
            samples.append(machines(journey))
        lines = (*table(runs), "", gain(runs[0], runs[1], f"measured on {self.declared.project}"))
        cost = f"the clusters' machines cost {pool_cost(samples)}"
        print("", *lines, cost, sep="\n")
        origin = Published(self.declared.project, self.declared.region, _ROOT, samples[-1].when, cost)
        page = origin.page(f"The demo's journey on Vertex AI in {origin.region}", ("```text", *lines, "```"))
        write_atomically(self.report, page)

    def _flags(self) -> tuple[str, ...]:
        return ("--project", self.declared.project, "--region", self.declared.region)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make verify-cloud", description=__doc__)
    parser.add_argument("--project", required=True)
    parser.add_argument("--region", default="us-central1")
    parser.add_argument("--max-usd", type=Decimal, default=Decimal(2))
    parser.add_argument("--max-minutes", type=int, default=60)
    parser.add_argument("--yes", action="store_true", help="the price is accepted unasked")
    parser.add_argument(
        "--probes", default="", help="all, open (those without an answer), or names with commas between"
    )
    parser.add_argument(
        "--reservation", default="", help="the full path of a reservation in calendar mode, for its probe"
    )
    parser.add_argument("--machine", default="", help="the machine type of that reservation")
    parser.add_argument("--clean-up", action="store_true", help="only take away what an earlier call left")
    flags = parser.parse_args(arguments)
    try:
        if not flags.project:
            raise ConfigError("no project is named", fix="make verify-cloud PROJECT=your-project-id")
        declared = stack(flags.project, flags.region)
        folder = _ROOT / ".slipway" / "verify" / f"{declared.project}-{declared.region}"
        if flags.probes:
            ended = _probe(declared, folder.with_name(f"{folder.name}-probes"), flags)
        else:
            ended = _verify(declared, folder, flags)
    except SlipwayError as error:
        print(f"\n{error.render()}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\ninterrupted; everything was taken away again", file=sys.stderr)
        return 130
    if ended:
        print(f"\n{ended}")
    return 0


def _verify(declared: Stack, folder: Path, flags: argparse.Namespace) -> str:
    """Play the journey, or its clean-up alone; return the last line to print."""
    verification = Verification(declared, folder)
    with turn(folder / "verify.lock"):
        if _only_cleaned(verification, flags):
            return ""
        verification.verify(_agreed(declared, flags.max_minutes, flags.max_usd, flags.yes))
    return (
        f"the report, to be read and published (docs/stability.md): {verification.report}\n"
        f"verify-cloud finished: the journey ran on {declared.project}, and everything is taken away again"
    )


def _probe(declared: Stack, folder: Path, flags: argparse.Namespace) -> str:
    """Ask the probes, or clean up alone; return the last lines to print."""
    held = reserved(flags.reservation, flags.machine, declared.region)
    run = ProbeRun(declared.project, declared.region, folder, flags.probes, _say, held)
    with turn(folder / "verify.lock"):
        if _only_cleaned(run, flags):
            return ""
        allowed = run.cost(flags.max_minutes, flags.max_usd)
        if not allowed.probes and not allowed.unpriced:
            return "nothing to ask: every probe has its answer"
        print(run.price(allowed, flags.max_usd))
        _agree(declared.project, flags.yes)
        guarded(run.run_file, run.flags, allowed.minutes, lambda: run.play(allowed), run.clean_up)
    return (
        f"the report, to be read and published (docs/stability.md): {folder / 'report.md'}\n"
        f"for the local cloud: cp {folder / 'settings.toml'} "
        f'"${{VERTEX_LOCAL_STATE:-.vertex-local}}/settings.toml"\n'
        f"verify-cloud finished: {declared.project} was asked, and everything is taken away again"
    )


def _only_cleaned(run: Verification | ProbeRun, flags: argparse.Namespace) -> bool:
    """Clean up where the flags ask for it, and after an earlier call that was killed. Return whether that was all."""
    if flags.clean_up:
        run.clean_up()
    elif run.run_file.exists():
        print_progress("an earlier call was killed: cleans up after it first")
        run.clean_up()
        run.run_file.unlink(missing_ok=True)
    return bool(flags.clean_up)


def _agreed(declared: Stack, minutes: int, max_usd: Decimal, yes: bool) -> Budget:
    """Return the budget, once the person has agreed to it. Raises PolicyError above the ceiling, Cancelled on a no."""
    allowed = budget(per_hour(declared), minutes, max_usd)
    print(
        f"on project {declared.project}, {declared.region}: CPU machines, ${allowed.per_hour.floor.known:.2f} to "
        f"${allowed.per_hour.ceiling.known:.2f} an hour, for about 20 minutes and at most {minutes}: at most "
        f"${allowed.most:.2f} (ceiling ${max_usd:.2f}); all of it is deleted afterwards"
    )
    _agree(declared.project, yes)
    return allowed


def _agree(project: str, yes: bool) -> None:
    """Ask the person. Raises Cancelled on a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Cancelled("nobody is there to accept the price", fix="run it on a terminal, or add YES=1")
    if input(f"type {project} to go on: ").strip() != project:
        raise Cancelled("not agreed; nothing was sent", fix=f"type {project}, or add YES=1")


def _say(text: str) -> None:
    print_progress(f"  {text}")


if __name__ == "__main__":
    exit_after(main)
