"""Files of requirements, as pip reads them, and the packages that differ between two of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.authoring.stack.secrets import address_has_secret, has_secret
from slipway.base.formatting import last_part, short
from slipway.base.installation import NAME
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.secret_values import HIDDEN

PINS, LAPTOP = "requirements.txt", "requirements-local.txt"
"""Files of pins: the deployment's, and those of the laptop, from which people deploy too."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*(.*)", re.DOTALL)
_OPTION = re.compile(r"^(--[\w-]+)=")
_HASH = re.compile(r"\s*(--hash[ =]\s*\S+|#\S*$)")
_COMMIT = re.compile(r"(@[0-9a-f]{12})[0-9a-f]{28}\b")
_WHEEL = re.compile(r"[^-]+-([^-]+)-.*\.whl")


def changed(before: str, after: str) -> tuple[Edit, ...]:
    """Return the packages and options that differ, Slipway first."""
    old, new = _by_name(before), _by_name(after)
    names = sorted({*old, *new}, key=lambda name: (name != NAME, name))
    edits = []
    for name in (name for name in names if old.get(name) != new.get(name)):
        was, now = _version(old.get(name), name), _version(new.get(name), name)
        edits.append(Edit(name, was, f"{now}, from elsewhere or with other hashes" if was == now else now))
    return tuple(edits)


def _by_name(text: str) -> dict[str, str]:
    """Return what a text asks of each package and option; a package may have several lines, by markers."""
    requirements: dict[str, list[str]] = {}
    for line in lines(text):
        name = _NAMED.fullmatch(line)
        key, asked = (package(name[1]), name[2]) if name else _OPTION.sub(r"\1 ", line).partition(" ")[::2]
        # `-ihttps:…` has no space.
        requirements.setdefault(HIDDEN if address_has_secret(key) else key, []).append(asked)
    return {key: "\n".join(sorted(some)) for key, some in requirements.items()}


def _version(asked: str | None, name: str) -> str:
    """Return `8.2.0`; of a wheel's address its version, of a commit its beginning."""
    if asked is None:
        return ""
    bare = _HASH.sub("", asked).strip().removeprefix("==")
    wheel = _WHEEL.fullmatch(last_part(bare))
    told = wheel[1] if wheel else _COMMIT.sub(r"\1…", bare) or ("any version" if name[0].isalnum() else "given")
    return HIDDEN if has_secret(f"{name} {bare}") or address_has_secret(told) else short(told)


def package(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(requirements: str) -> Iterator[str]:
    """Yield each requirement and option, without its comment."""
    for line in requirements.replace("\\\n", " ").splitlines():
        if bare := re.sub(r"(^|\s)#.*", "", line).strip():
            yield bare
