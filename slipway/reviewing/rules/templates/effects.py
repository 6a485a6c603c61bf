"""Effects of a changed value on jobs, where they depend on machines, past runs, kinds or secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import counted, exact_span, few, join, last_part, percent
from slipway.deploying.engine.lifecycle import Effect
from slipway.model.catalog.cases import renames
from slipway.model.catalog.placeholders import JOB, REQUEST, fill, names, placeholder
from slipway.model.catalog.template import Offer
from slipway.model.findings.finding import Grade
from slipway.model.kinds import TUNING_JOB
from slipway.model.labels import Launched
from slipway.model.rules.code import PREBUILT
from slipway.reviewing.change.edits import PLACE
from slipway.reviewing.change.secret_values import bare, shown
from slipway.reviewing.change.usual import (
    account_of,
    containers,
    secret_in,
    secrets_of,
    usual_values,
    variables,
)
from slipway.reviewing.rules.resources.trainers import called, is_made, secrets_read, submitters_of, trainer_of
from slipway.reviewing.rules.table import RowName, follows, say
from slipway.reviewing.rules.templates.difference import Difference, is_result
from slipway.reviewing.rules.templates.leaves import Machines, address_of
from slipway.reviewing.rules.templates.usage import flag
from slipway.reviewing.rules.words import MOST_NAMED, jobs, named, other_blanks, owned

_FOR_CPUS = re.compile(r"(?<![a-z])cpu(?![a-z])")
_PLACE = re.compile(r"((?:gs://|/gcs/)(?!google-cloud-aiplatform/)([a-z0-9][\w.-]+)[^\s'\"|,;)]*)")
_IN_A_BUCKET = re.compile(r"gs://|/gcs/")


def machines(difference: Difference) -> Effect:
    old, new = difference.before, difference.after
    if not (isinstance(old, Machines) and isinstance(new, Machines)):
        side = new or old
        assert isinstance(side, Machines)
        words = f"{_count(side, difference)} `{side.type}`"
        return follows("machines-besides", machines=words, more=new)
    if (old.type, old.gpus, old.count) != (new.type, new.gpus, new.count):
        counts = [f"{_count(side, difference)} " if new.count != old.count else "" for side in (new, old)]
        whole = [
            side.gpus if new.gpus != old.gpus and new.type == old.type else f"`{side.type}`" for side in (new, old)
        ]
        whole = [f"{count}{machine}" for count, machine in zip(counts, whole, strict=True)]
        does = f"ask for {' instead of '.join(whole)}"
        if 0 < new.gpu_memory < old.gpu_memory:
            return follows("gpu-smaller", does=does, gb=new.gpu_memory, old_gb=old.gpu_memory)
        grade = Grade.NOTE if old.fits_in(new) else None
        return follows("machine-other", grade=grade, does=does, had=old.gpu, gpu=new.gpu)
    sizes = new.disk_size, old.disk_size
    larger = old.disk_type == new.disk_type and all(map(str.isdigit, sizes)) and int(sizes[0]) > int(sizes[1])
    return follows("disk-other", grade=Grade.NOTE if larger else None, larger=larger, new=new.disk, old=old.disk)


def _count(side: Machines, difference: Difference) -> str:
    """Return `3`, or of a parameter its usual value: ``4 (`workers`)``."""
    parameters, template = names(side.count), difference.template
    usual = fill(side.count, usual_values(template.old if side is difference.before else template.new))
    return f"{usual} ({join(f'`{name}`' for name in parameters)})" if parameters else side.count


def image(difference: Difference) -> Effect:
    if difference.after is None or difference.before is None:
        old, new = (_last(str(side)) if side else "" for side in (difference.before, difference.after))
        return follows("image-form", launched=all(map(Launched.of, containers(difference.offers))), old=old, new=new)
    (was_at, was, tag), (at, becomes, other) = map(_parts, sides := (str(difference.before), str(difference.after)))
    for_cpus = _have_gpus(difference) and _FOR_CPUS.search(becomes) and not _FOR_CPUS.search(was)
    copied = tag == other and tag.startswith("sha256")
    moving = [each in ("", "latest") for each in (tag, other)] == [False, True]
    same = (copied or was == becomes) and not (moving or for_cpus) and (was_at == at or PREBUILT.fullmatch(sides[1]))
    old, new = map(_last if was_at == at else lambda side: f"`{bare(side, longest=100)}`", sides)
    row: RowName = "image-for-cpus" if for_cpus else "image-other"
    return follows(row, grade=Grade.NOTE if same else None, new=new, old=old, copied=copied, moving=moving)


def _parts(name: str) -> tuple[str, str, str]:
    """Return an image's registry, its name there, and its digest or else its tag."""
    start, _, digest = name.partition("@")
    folder, _, last = start.rpartition("/")
    base, _, tag = last.partition(":")
    return folder, base, digest or tag


def _last(name: str) -> str:
    """Return an image's last part, with the beginning of a digest."""
    start, at, digest = last_part(name).partition("@")
    return shown(f"{start}@{digest[:14]}…" if at else start)


def arguments(difference: Difference) -> Effect:
    before, after = (leaf if isinstance(leaf, tuple) else () for leaf in (difference.before, difference.after))
    gone, new = [each for each in before if each not in after], [each for each in after if each not in before]
    template = difference.template
    kept = {name for each in after for name in names(each)}
    kept |= {name for name, other in renames(template.old, template.new).items() if other in kept}
    lost = [each for each in gone if any(is_result(name) and name not in kept for name in names(each))]
    if any(file.flags and PLACE in file.keeps for file in template.code) and not template.reads(map(flag, lost)):
        lost = []  # Its code names the place by itself.
    together = [each for each in new if _IN_A_BUCKET.search(each) and flag(each) in {*map(flag, lost)}]
    if lost and not {JOB, REQUEST} & {name for each in together for name in names(each)}:
        of = join(f"`{name}`" for each in together for name in names(each))
        row: RowName = "arguments-shared" if together else "arguments-results"
        return follows(row, flags=_flags(lost), new=_values(together, []), of=of)
    words: dict[str, Any] = {
        "new": _values(new, gone),
        "gone": other_blanks(_values(gone, new), gone, new),
        "flags": _flags(gone),
    }
    times = {text: each for text in dict.fromkeys(before) if (each := after.count(text)) not in (0, before.count(text))}
    counts = [(argument(text), counted(each, "time"), before.count(text)) for text, each in times.items()]
    words["times"] = join(say("argument-times", text=text, now=now, was=was) for text, now, was in counts)
    words["besides"] = gone or new
    if not (gone or new or times):
        flags = [*map(flag, after)]
        named = all("=" in each for each in after) and len({*flags}) == len(flags) and template.reads(flags)
        return follows("arguments-other", order=True, strange=named, grade=Grade.NOTE if named else None, **words)
    # What the code is known not to read has a row of its own, or does nothing.
    unread = [name for name in map(flag, new or gone or times) if name.startswith("--") and not template.reads([name])]
    strange = any(file.flags for file in template.code) and len(unread) >= (1 if new else len(gone or times))
    still = names(str([(offer.request, *map(placeholder, offer.when)) for offer in difference.offers]))
    unheard = {name for each in gone for name in names(each) if name not in still}
    known = {each.name for each in template.new.parameters}
    grade = Grade.BLOCKING if unheard & known and not after else Grade.NOTE if strange else None
    return follows("arguments-other", order=False, grade=grade, strange=strange, **words)


def _flags(arguments: Iterable[str]) -> str:
    return join(dict.fromkeys(shown(flag(argument)) for argument in arguments))


def argument(text: str, beside: str = "") -> str:
    """Return an argument as a comment may have it; a secret one by its name alone."""
    name, _, value = text.partition("=")
    if looks_secret(value, name.lstrip("-")):
        return f"{name}=… (hidden)"
    told = bare(text, beside=beside)
    return f"{name}={told}" if told.startswith("…") and name.startswith("-") else told


def _values(arguments: list[str], others: list[str]) -> str:
    """Return arguments, each as it differs from the other of its name, or of its place."""
    by_name, by_place = {flag(text): text for text in others}, dict(enumerate(others))
    pairs = ((text, by_name.get(flag(text), by_place.get(place, ""))) for place, text in enumerate(arguments))
    return few((f"`{argument(*pair)}`" for pair in pairs), most=3)


def secret(difference: Difference) -> Effect:
    name, sides = difference.name, [str(leaf or "") for leaf in (difference.before, difference.after)]
    old, new = (secret_in(side) or side for side in sides)
    if old == new and sides[0].partition("/secrets/")[0] != sides[1].partition("/secrets/")[0]:
        old, new = (side.partition("/versions/")[0] for side in sides)
    # An image without the launcher reads the reference itself.
    launched = all(map(Launched.of, containers(difference.offers)))
    row: RowName = "secret-version" if old == new else "secret-other"
    if not new:
        row = "secret-plain" if name in dict(variables(difference.offers)) else "secret-gone"
    addresses = dict.fromkeys(map(account_of, difference.offers))
    if row == "secret-other" and all(new in secrets_read(difference.template.was, address) for address in addresses):
        row = "secret-known"
    account = join(f"`{address}`" for address in addresses if address) or "their account"
    newest, given = last_part(sides[1]) == "latest", name if launched else f"{name}__SECRET"
    grade = Grade.NOTE if (row == "secret-version" and newest) or (row == "secret-known" and not old) else None
    made = any(is_made(difference.template.change, address) for address in addresses)
    return follows(row, grade=grade, account=account, made=made, given=given, old=old and shown(old), new=shown(new))


def account(difference: Difference) -> Effect:
    change, own = difference.template.change, dict.fromkeys(secrets_of(difference.offers))
    usual = usual_values(difference.template.new)
    leaves = zip((difference.before, difference.after), (change.old, change.new), strict=True)
    addresses = [address_of(str(leaf or ""), catalog) for leaf, catalog in leaves]
    was, becomes = map(trainer_of, (change.before, change.after), addresses)
    old, new = (
        called(trainer) if trainer else name and f"account {shown(name)}"
        for trainer, name in zip((was, becomes), addresses, strict=True)
    )
    more = secrets_read(change.new, addresses[1]) - own.keys() - secrets_read(change.old, addresses[0])
    unread = own.keys() - secrets_read(change.old, addresses[1])
    known = _places(change.old.offers_as(addresses[1]))
    asked = _places(replace(each, request=fill(each.request, usual)) for each in difference.offers)
    places = [asked[bucket] for bucket in asked.keys() - {*known, *change.old.buckets, *change.new.buckets}]
    sure = bool(was and becomes and not (unread or places))
    # Of an account that stays its trainer's own rows tell.
    same = addresses[0] == addresses[1]
    former = change.after if same else change.before
    sides = [submitters_of(former, addresses[0]), submitters_of(change.after, addresses[1])]
    lost, gained = ([f"`{member}`" for member in side if member not in other] for side, other in (sides, sides[::-1]))
    return follows(
        "account-other",
        grade=(Grade.NOTE if same and not gained else Grade.WARNING) if sure and not lost else None,
        details=(*lost[MOST_NAMED:], difference.template.used.words()) if lost else (),
        new=new,
        old=old,
        address=addresses[1],
        made=is_made(change, addresses[1]),
        secrets=join(f"`{name}`" for name in own if name in unread),
        sure=sure,
        more=join(f"`{name}`" for name in sorted(more)),
        lost=named(lost),
        gained=named(gained),
    )


def _places(offers: Iterable[Offer]) -> Mapping[str, str]:
    """Return the places in Cloud Storage that requests name, by their buckets."""
    return {bucket: place for offer in offers for place, bucket in _PLACE.findall(str(offer.spec))}


def idle(difference: Difference) -> Effect:
    """Say when the launcher ends a job whose GPUs nobody uses."""
    sides = [str(leaf or "").split() for leaf in (difference.before, difference.after)]
    was, now = [(-float(side[0]), float(side[1])) if side else (0.0, inf) for side in sides]
    old, new = (f"below {percent(float(side[0]))} for {exact_span(float(side[1]))}" if side else "" for side in sides)
    sooner = any(after < before for before, after in zip(was, now, strict=True))
    ends = sooner and _have_gpus(difference)
    return follows("idle-limit", grade=None if ends else Grade.NOTE, old=old, new=new, ends=ends)


def _have_gpus(difference: Difference) -> bool:
    specs = ((pool.get("machineSpec") or {}) for offer in difference.offers for pool in offer.worker_pools)
    return any(spec.get("acceleratorType") for spec in specs)


def timeout(difference: Difference) -> Effect:
    old, new = (float(str(leaf or "0s").removesuffix("s")) for leaf in (difference.before, difference.after))
    trials = difference.template.new.kind == TUNING_JOB.name
    if 0 < old < new:
        grade = Grade.NOTE if new < 2 * old else None
        return follows("timeout-longer", grade=grade, new=exact_span(new), old=exact_span(old), trials=trials)
    now, used = difference.template.change.now, difference.template.used.jobs
    times = [(job, job.start_time, (job.end_time or job.update_time) if job.ended else now) for job in used]
    longer = [job for job, start, end in times if start and end and (end - start).total_seconds() > new]
    known = any(job.ended and job.start_time for job in used)
    return follows(
        "timeout-shorter",
        grade=Grade.BLOCKING if longer or not known else Grade.WARNING,
        details=jobs(longer, now, exact_span),
        ends=f"{exact_span(new)} instead of {exact_span(old)}" if old else exact_span(new),
        longer=owned(longer, ""),
        known=known,
        trials=trials,
    )
