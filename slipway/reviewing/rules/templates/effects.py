"""Effects of a changed value on jobs, where they depend on machines, images, past runs or secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import counted, join, last_part, span
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.catalog.placeholders import OUTPUT, names
from slipway.model.findings.finding import Grade
from slipway.model.machines.table import all_accelerators
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import job_spec, secret_in
from slipway.reviewing.rules.templates.usage import Usage

N, W, B = Grade.NOTE, Grade.WARNING, Grade.BLOCKING
TRAINER = "the trainer"
_RESULTS = re.compile(r"output|checkpoint|ckpt", re.IGNORECASE)
_FOR_CPUS = re.compile(r"(?<![a-z])cpu(?![a-z])")


@dataclass(frozen=True)
class Machines:
    """The machines of a worker pool as a request writes them; a type of TPU with its topology."""

    count: str
    type: str
    gpu_count: str
    gpu: str
    disk_type: str
    disk_size: str

    def __str__(self) -> str:
        """Return `2 × n1-standard-8 with 1 NVIDIA_TESLA_T4, pd-ssd 100 GB`."""
        return f"{self.count} × {self.type}{f' with {self.gpu_count} {self.gpu}' if self.gpu else ''}, {self.disk}"

    @property
    def disk(self) -> str:
        return f"{self.disk_type} {self.disk_size} GB"

    @property
    def gpus(self) -> str:
        """The GPUs of a machine: `1 A100 80GB GPU`"""
        known = next((one.label for one in all_accelerators() if one.name == self.gpu), self.gpu)
        return counted(self.gpu_count, known) if self.gpu else "no GPU"

    @property
    def gpu_memory(self) -> int:
        """GB of all GPUs of a machine; 0 where there are none, or the size is unknown."""
        known = next((one.gpu_memory_gb for one in all_accelerators() if one.name == self.gpu), None)
        return int(self.gpu_count) * (known or 0) if self.gpu_count.isdigit() else 0


Leaf = str | tuple[str, ...] | Machines
"""A value of a request; a list of texts is one value."""


class Said(NamedTuple):
    """A grade, the words after "Jobs of `lora`", and the reason or what to do."""

    grade: Grade
    words: str
    more: str = ""


@dataclass(frozen=True)
class Differing:
    """A value before and after, None where there is none: `name` is the path's own, `of` its owner's. `offers` are
    those of `new` whose jobs it affects."""

    name: str
    of: str
    before: Leaf | None
    after: Leaf | None
    offers: tuple[Offer, ...]
    old: Template
    new: Template
    was: Catalog
    becomes: Catalog
    used: Usage
    now: datetime


def machines(one: Differing) -> Said:
    old, new = one.before, one.after
    if not isinstance(old, Machines) or not isinstance(new, Machines):
        return Said(W, f"take {'these machines besides' if new else 'no more'}: `{new or old}`")
    if (old.type, old.gpus) != (new.type, new.gpus):
        gpus = f"{new.gpus} instead of {old.gpus}" if new.gpus != old.gpus else ""
        words = f"run on `{new.type}` instead of `{old.type}`" if new.type != old.type else f"run with {gpus}"
        if 0 < new.gpu_memory < old.gpu_memory:
            less = f"{new.gpu_memory} GB of GPU memory instead of {old.gpu_memory}, and what needs more fails"
            return Said(B, words, less)
        return Said(W, words, gpus if new.type != old.type else "")
    if old.count != new.count:
        return Said(W, f"take {new.count} `{new.type.partition(' ')[0]}` instead of {old.count}")
    same = old.disk_type == new.disk_type
    words = "have disks of {} instead of {}".format(
        *(f"{each.disk_size} GB" if same else each.disk for each in (new, old))
    )
    if all(each.disk_size.isdigit() for each in (old, new)) and int(new.disk_size) < int(old.disk_size):
        return Said(W, words, "what needs more room fails")
    return Said(N if same else W, words)


def image(one: Differing) -> Said:
    if one.after is None:
        return Said(W, f"run a package of this repository instead of image {_last(str(one.before))}")
    if one.before is None:
        words = f"run image {_last(str(one.after))} instead of a package of this repository"
        return Said(W, words, "nobody here sees what is in it")
    before, after = str(one.before), str(one.after)
    (was, build), (becomes, other) = (_parts(each) for each in (before, after))
    if _FOR_CPUS.search(becomes) and not _FOR_CPUS.search(was) and any(map(_accelerated, one.offers)):
        words = f"run in {_last(becomes)}, an image for CPUs, on machines with GPUs"
        return Said(B, words, "those are paid for and hardly used")
    if was == becomes and build.startswith("sha256:") and other.startswith("sha256:"):
        words = f"run in another build of image {_last(becomes)}"
        return Said(N, words, "results may not compare with those of before")
    words = f"run in {_last(after)} instead of {_last(before)}"
    moves = not other or other == "latest"
    return Said(W, words, "that tag moves, so two runs may differ" if moves else "results may differ")


def _parts(name: str) -> tuple[str, str]:
    """Return an image's name, and its digest or tag."""
    start, at, digest = name.partition("@")
    folder, _, last = start.rpartition("/")
    base, _, tag = last.partition(":")
    return f"{folder}/{base}", digest if at else tag


def _last(name: str) -> str:
    """Return an image's last part, with the beginning of a digest."""
    start, at, digest = last_part(name).partition("@")
    return shown(f"{start}@{digest[:14]}…" if at else start)


def _accelerated(offer: Offer) -> bool:
    pools = job_spec(offer).get("workerPoolSpecs") or ()
    return any((pool.get("machineSpec") or {}).get("acceleratorType") for pool in pools)


def arguments(one: Differing) -> Said:
    before, after = (leaf if isinstance(leaf, tuple) else () for leaf in (one.before, one.after))
    gone, new = [each for each in before if each not in after], [each for each in after if each not in before]
    kept = {name for each in after for name in names(each)}
    lost = [each for each in gone if any(_is_result(name) and name not in kept for name in names(each))]
    if lost:
        words = f"aren't told by {_flags(lost)} any more where results belong"
        return Said(B, words, "what they write to a machine's disk is lost with the machine")
    if not gone and not new:
        return Said(W, "get their arguments in another order")
    changed = {flag(each) for each in gone} & {flag(each) for each in new}
    former, latter = ([each for each in some if flag(each) in changed] for some in (gone, new))
    more, less = [each for each in new if each not in latter], [each for each in gone if each not in former]
    told = [f"with {_values(latter)} instead of {_values(former)}"] if changed else []
    told += [f"with {_values(more)}"] if more else []
    told += [f"without {_flags(less)}"] if less else []
    return Said(W, f"are started {join(told)}")


def _is_result(name: str) -> bool:
    return name == OUTPUT or bool(_RESULTS.search(name))


def command(one: Differing) -> Said:
    after, before = (" ".join(leaf) if isinstance(leaf, tuple) else leaf for leaf in (one.after, one.before))
    words = (shown(text) if text else "the image's own command" for text in (after, before))
    return Said(W, f"are started by {' instead of '.join(words)}")


def module(one: Differing) -> Said:
    after, before = (str(leaf or "none") for leaf in (one.after, one.before))
    told = after.partition(".")[0] != before.partition(".")[0]  # Reported with the code.
    return Said(N if told else W, f"start module {shown(after)} instead of {shown(before)}")


def flag(argument: str) -> str:
    return argument.partition("=")[0]


def _flags(arguments: Iterable[str]) -> str:
    return join(dict.fromkeys(shown(flag(one)) for one in arguments))


def _values(arguments: list[str]) -> str:
    """Return at most three of them; secret ones by their name alone."""
    words = []
    for one in arguments[:3]:
        name, equals, value = one.partition("=")
        hides = equals and looks_secret(value, name.lstrip("-"))
        words.append(f"`{name}=…` (hidden)" if hides else shown(one))
    return join([*words, *([f"{len(arguments) - 3} more"] if len(arguments) > 3 else [])])


def secret(one: Differing) -> Said:
    old, new = (secret_in(str(leaf or "")) or str(leaf or "") for leaf in (one.before, one.after))
    unseen = "nobody looked whether it exists and their account may read it"
    if not new:
        return Said(B, f"don't get secret {shown(old)} any more as `{one.name}`", "code that needs it fails")
    if not old:
        return Said(B, f"read secret {shown(new)} as `{one.name}`", unseen)
    if old != new:
        return Said(B, f"read secret {shown(new)} instead of {shown(old)}", unseen)
    place, was = (str(leaf).partition("/secrets/")[0] for leaf in (one.after, one.before))
    if place != was:
        return Said(B, f"read secret {shown(new)} of {shown(place)} instead of {shown(was)}", unseen)
    after, before = (shown(last_part(str(leaf))) for leaf in (one.after, one.before))
    words = f"read version {after} of secret {shown(new)} instead of {before}"
    return Said(W, words, "nobody looked whether it is still good")


def account(one: Differing) -> Said:
    old, new = (_address(leaf, catalog) for leaf, catalog in ((one.before, one.was), (one.after, one.becomes)))
    if old == new:
        old, new = (shown(str(leaf).removesuffix(".iam.gserviceaccount.com")) for leaf in (one.before, one.after))
    secrets = join(f"`{name}`" for name in dict.fromkeys(secrets_of(one.offers)))
    reads = f"read secret {secrets}" if secrets else "read and write what they need"
    return Said(
        B, f"run as account {new} instead of {old}", f"nobody looked whether that may {reads}, as the old one could"
    )


def _address(leaf: Leaf | None, catalog: Catalog) -> str:
    known = {TRAINER: catalog.trainer, **{f"trainer {name}": one for name, one in catalog.trainers.items()}}
    found = known.get(str(leaf), str(leaf or "")).partition("@")[0]
    return shown(found) if found else "an account of Google's"


def secrets_of(offers: Iterable[Offer]) -> Iterator[str]:
    for offer in offers:
        for pool in job_spec(offer).get("workerPoolSpecs") or ():
            code = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
            variables = {str(each.get("name")): str(each.get("value")) for each in code.get("env") or ()}
            yield from (secret_in(value) or value for name, value in variables.items() if name.endswith("__SECRET"))


def timeout(one: Differing) -> Said:
    old, new = (float(str(leaf or "0s").removesuffix("s")) for leaf in (one.before, one.after))
    if not new or 0 < old < new:
        grade, until = W if not new or new >= 2 * old else N, f"run {span(new)}" if new else "run for ever"
        return Said(grade, f"may {until} instead of {span(old)}", "one that hangs is paid for that long")
    ran = [time for job in one.used.jobs if (time := _lasted(job, one.now))]
    longer = sum(time.total_seconds() > new for time in ran)
    words = f"are ended after {span(new)}{f' instead of {span(old)}' if old else ''}"
    if not ran:
        return Said(B, words, "longer ones lose what they have not saved; running ones keep theirs")
    took = f"{longer or 'none'} of the last {len(ran)} took longer"
    if len(ran) == 1:
        took = f"the last run took {'' if longer else 'no '}longer"
    return Said(B if longer else W, words, f"{took}; running ones keep theirs")


def _lasted(job: VertexJob, now: datetime) -> timedelta | None:
    end = (job.end_time or job.update_time) if job.ended else now
    return end - job.start_time if job.start_time and end else None


def variable(one: Differing) -> Said:
    old, new = (None if leaf is None else shown(leaf, one.name) for leaf in (one.before, one.after))
    if new is None:
        lost = any(map(_is_result, names(str(one.before))))
        return Said(B if lost else W, f"run without environment variable `{one.name}`, which was {old}")
    return Said(W, f"run with `{one.name}` = {new}{f' instead of {old}' if old else ''}")


def goal(one: Differing) -> Said:
    if one.before is None or one.after is None:
        return Said(B, f"judge trials by `{one.of}`" if one.after else f"don't judge trials by `{one.of}` any more")
    after, before = ("the smallest" if side == "MINIMIZE" else "the largest" for side in (one.after, one.before))
    return Said(B, f"look for {after} `{one.of}` instead of {before}", "trials are judged the other way round")
