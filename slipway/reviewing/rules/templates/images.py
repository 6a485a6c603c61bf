"""Images of jobs: what follows where one is another, by its framework, device, version, and who built it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from slipway.base.formatting import join, last_part
from slipway.deploying.engine.lifecycle import Effect
from slipway.model.labels import Launched
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import account_of, containers, posted_pools, secrets_of
from slipway.reviewing.rules.table import follows
from slipway.reviewing.rules.templates.difference import Difference

PREBUILT = re.compile(
    r"-docker\.pkg\.dev/vertex-ai/training/(?P<framework>\w+)-(?P<device>\w+)\.(?P<version>[\d-]+)(?:\.(?P<python>py\d+))?"
)
"""The parts of the name of one of Google's images."""
_GOOGLES = ("vertex-ai", "deeplearning-platform-release", "cloud-aiplatform")
"""Projects of Google's own images."""
_FOR_CPUS = re.compile(r"(?<![a-z])cpu(?![a-z])")


def image(difference: Difference) -> Effect:
    if difference.after is None:
        return follows("image-gone", old=_last(str(difference.before)))
    if strangers := _of_strangers(difference):
        return strangers
    if difference.before is None:
        launched = all(map(Launched.of, containers(difference.offers)))
        return follows("image-launched" if launched else "image-new", new=_last(str(difference.after)))
    sides = before, after = str(difference.before), str(difference.after)
    (was_at, was, build), (at, becomes, other) = map(_parts, sides)
    old, new = (found.groupdict("") if (found := PREBUILT.search(side)) else {} for side in sides)
    specs = ((pool.get("machineSpec") or {}) for offer in difference.offers for pool in posted_pools(offer))
    gpus = any(spec.get("acceleratorType") for spec in specs)
    differs = {name for name in new if old and new[name] != old[name]}
    versions = [[int(number) for number in re.findall(r"\d{1,9}", side.get("version", ""))] for side in (old, new)]
    rows = {
        "for-cpus": gpus and _FOR_CPUS.search(becomes) and not _FOR_CPUS.search(was),
        "elsewhere": was_at != at,
        "framework": "framework" in differs,
        "moving": other == "latest" or not other,
        "for-gpus": not gpus and new.get("device") == "gpu" and "device" in differs,
        "python": "python" in differs,
        "older": "version" in differs and versions[1] < versions[0],
        "newer": "version" in differs,
        "build": was == becomes and (bool(new) or {build[:7], other[:7]} == {"sha256:"}),
    }
    row = next((row for row, holds in rows.items() if holds), "other")
    return follows(f"image-{row}", new=_last(after), old=_last(before), place=shown(at), was=shown(was_at))


def _of_strangers(difference: Difference) -> Effect | None:
    """Say what an image may do that neither the stack's project, nor Google, nor who made the last one has built."""
    becomes, image = difference.template.becomes, str(difference.after)
    if not (place := strangers(image, becomes.project, [str(difference.before or "")])):
        return None
    accounts = dict.fromkeys(shown(account_of(offer).partition("@")[0]) for offer in difference.offers)
    secrets = [f"secret `{name}`" for name in dict.fromkeys(secrets_of(difference.offers))]
    gets = join([f"what account {join(accounts)} may read", *secrets])
    pull = ["they fail at their start unless Vertex AI may pull it there"] if _is_googles(image) else []
    details = ("once it is deleted there, no job starts", *pull)
    home = shown(becomes.project)
    return follows("image-strangers", details=details, new=_last(image), place=place, gets=gets, home=home)


def strangers(image: str, project: str, others: Iterable[str]) -> str:
    """Return an image's registry where it is neither Google's, the project's nor that of another image."""
    known = {project, *_GOOGLES, *map(_owner, others)}
    return "" if _owner(image) in known else shown(_parts(image)[0])


def _is_googles(image: str) -> bool:
    return image.partition("/")[0].endswith(("pkg.dev", "gcr.io"))


def _owner(image: str) -> str:
    """Return whose image it is: of a project of Google Cloud, or of an account of another registry."""
    host, account, *rest = (*_parts(image)[0].split("/"), "")
    if _is_googles(image) and "." in account:  # A domain's project: acme.example/ml.
        account = f"{account}/{rest[0]}"
    return account if _is_googles(image) else f"{host}/{account}"


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
