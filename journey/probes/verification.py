"""The probes of one project and region, as `make verify-cloud PROBES=…` asks them: price, answers, clean-up."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from journey.probes import answers, reservations
from journey.probes.cost import Cost, cost, minutes_of, small_machine
from journey.probes.outputs import bucket_of
from journey.probes.probe import Finding, Probe, unknown
from journey.probes.run import ask
from journey.probes.service import ACCOUNT, STACK, Service
from journey.probes.table import PROBES, chosen
from journey.probes.unasked import UNASKED
from journey.published import Published
from journey.sweep import Ours, Sweep
from slipway.google.connection import Connection, connect
from slipway.model.machines.spec import MachineSpec


@dataclass(frozen=True)
class ProbeRun:
    """Probes named by `words` (`all`, `open`, or ids), and the folder that keeps their answers between calls."""

    project: str
    region: str
    folder: Path
    words: str
    say: Callable[[str], None]
    #: A reservation of the person's, with its machine.
    reserved: tuple[str, MachineSpec] | None = None

    @property
    def run_file(self) -> Path:
        return self.folder / "run.json"

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--project", self.project, "--region", self.region, "--probes", self.words)

    def cost(self, max_minutes: int, max_usd: Decimal) -> Cost:
        """Return the most that the chosen probes cost. Raises ConfigError for a wrong name, PolicyError above a
        ceiling."""
        told = {name for name, answer in self._answers().items() if answer.told}
        return cost(reservations.on(self.reserved, chosen(self.words, told)), self.region, max_minutes, max_usd)

    def play(self, allowed: Cost, connection: Connection | None = None) -> None:
        """Ask the probes; each answer is kept as it comes."""
        service = Service(
            connection or connect(os.environ),
            self.project,
            self.region,
            small_machine(self.region),
            cluster=f"{STACK}-{secrets.token_hex(3)}",
            reserved=self.reserved,
        )
        until = service.now() + timedelta(minutes=allowed.minutes)

        most = f"at most ${allowed.most:.2f} in the last call"
        origin = Published(self.project, self.region, Path(__file__).resolve().parents[2], service.now(), most)

        def keep(probe: Probe, finding: Finding) -> None:
            at = service.now().isoformat(timespec="seconds")
            kept = answers.with_finding(self._answers(), probe.id, finding, at)
            answers.write(self.folder, kept, PROBES, UNASKED, origin)
            self.say(f"{probe.id}: {finding.answer}")

        for probe in allowed.unpriced:
            keep(probe, unknown(f"not asked: the price of a machine that it may get is not known in {self.region}"))
        ask(service, allowed.probes, until, keep)

    def clean_up(self) -> None:
        """Delete everything that probes made, in this call or in one that was killed. Idempotent."""
        ours = Ours(
            project=self.project,
            region=self.region,
            stack=STACK,
            buckets=(bucket_of(self.project),),
            trainer=f"{ACCOUNT}@{self.project}.iam.gserviceaccount.com",
        )
        sweep = Sweep(connect(os.environ), ours, self.say)
        sweep.end_jobs(30 * 60.0)
        sweep.delete_rest(30 * 60.0)

    def price(self, allowed: Cost, max_usd: Decimal) -> str:
        """Return one line with the price, for the person to read before anything is sent."""
        whole = minutes_of(allowed.probes)
        time = f"at most {allowed.minutes} minutes"
        if whole > allowed.minutes:
            time += f" (all of them may take {whole}: those that do not fit are left for PROBES=open)"
        return (
            f"on project {self.project}, {self.region}: {len(allowed.probes)} probes, {time}: at most "
            f"${allowed.most:.2f} (ceiling ${max_usd:.2f}); all that they make is deleted afterwards"
        )

    def _answers(self) -> dict[str, answers.Answer]:
        return answers.read(self.folder / "answers.json")
