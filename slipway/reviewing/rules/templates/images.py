"""Images of jobs: what follows where one is another, by its framework, device, version, and who built it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from slipway.base.formatting import last_part
from slipway.deploying.engine.lifecycle import Effect
from slipway.model.findings.finding import Grade
from slipway.model.labels import Launched
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import containers
from slipway.reviewing.rules.table import RowName, follows
from slipway.reviewing.rules.templates.difference import Difference

PREBUILT = re.compile(r"-docker\.pkg\.dev/vertex-ai/training/(?P<framework>\w+)-(?P<device>\w+)\.(?P<version>[\d-]+)")
"""The parts of the name of one of Google's images."""
_FOR_CPUS = re.compile(r"(?<![a-z])cpu(?![a-z])")


def image(difference: Difference) -> Effect:
    if difference.after is None:
        return follows("image-gone", old=_last(str(difference.before)))
    if difference.before is None:
        launched = all(map(Launched.of, containers(difference.offers)))
        return follows("image-launched" if launched else "image-new", new=_last(str(difference.after)))
    sides = before, after = str(difference.before), str(difference.after)
    (was_at, was, _), (at, becomes, other) = map(_parts, sides)
    old, new = (found.groupdict("") if (found := PREBUILT.search(side)) else {} for side in sides)
    specs = ((pool.get("machineSpec") or {}) for offer in difference.offers for pool in offer.worker_pools)
    gpus = any(spec.get("acceleratorType") for spec in specs)
    differs = {name for name in new if old and new[name] != old[name]}
    versions = [[int(number) for number in re.findall(r"\d{1,9}", side.get("version", ""))] for side in (old, new)]
    rows: Mapping[RowName, object] = {
        "image-for-cpus": gpus and _FOR_CPUS.search(becomes) and not _FOR_CPUS.search(was),
        "image-elsewhere": was_at != at,
        "image-framework": "framework" in differs,
        "image-moving": other == "latest" or not other,
        "image-for-gpus": not gpus and new.get("device") == "gpu" and "device" in differs,
        "image-older": "version" in differs and versions[1] < versions[0],
        "image-newer": "version" in differs,
    }
    row: RowName | None = next((row for row, holds in rows.items() if holds), None)
    grade = Grade.NOTE if row is None and was == becomes else None
    return follows(
        row or "image-other", grade=grade, new=_last(after), old=_last(before), place=shown(at), was=shown(was_at)
    )


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
