"""Pinned packages, actions and images, and those that differ between two texts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slipway.authoring.stack.secrets import address_has_secret, has_secret
from slipway.base.formatting import last_part, short
from slipway.base.installation import NAME
from slipway.reviewing.change.secret_values import HIDDEN, change

PINS, LAPTOP = "requirements.txt", "requirements-local.txt"
"""Files of pins: of the deployment, and of a laptop, from which people deploy too."""
ANY = "any version"
REMARKS = ("", "major version", "not pinned", "another source")
"""Remarks on a dependency, the worst last."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*(.*)", re.DOTALL)
_OPTION = re.compile(r"^(--[\w-]+)=")
_HASH = re.compile(r"\s*(--hash[ =]\s*\S+|#\S*$)")
_COMMIT = re.compile(r"(@[0-9a-f]{12})[0-9a-f]{28}\b")
_WHEEL = re.compile(r"[^-]+-([^-]+)-.*\.whl")
_DIGEST = re.compile(r"\b[0-9a-f]{40}\b|sha256:")
_EXACT = re.compile(r"(==+)?\s*v?\d+(\.[\w.+!]+)?(\s*;.*|, with .*)?|@.*|given|none", re.DOTALL)
_MAJOR = re.compile(r"(?:.*:)?[=v]*(\d{1,4})(?:[.\s,-]|$)")
_INDEX = re.compile(r"-i.*|--(extra-)?index-url|--find-links|-f.*|--trusted-host|\(not shown\)")
_LOCKED = re.compile(r'^name = "(.+)"\nversion = "(.+)"$', re.MULTILINE)
_LISTED = re.compile(r'"([A-Za-z][\w.-]*(?:\[[\w, -]*\])?\s*(?:[@=<>~!;].*)?)"')


@dataclass(frozen=True)
class Pin:
    """A dependency from one version to another. An empty side does not list it."""

    name: str
    before: str
    after: str
    #: An action or an image, which is pinned by a digest alone.
    needs_digest: bool = False

    def __str__(self) -> str:
        """Return `` `click` `8.2.0` → `8.3.0` (major version) ``."""
        remark = f" ({self.remark})" if self.remark else ""
        return f"`{self.name.replace('`', chr(39))}` {change(self.before, self.after)}{remark}"

    @property
    def remark(self) -> str:
        """The worst of `REMARKS` that the new version deserves."""
        fixed = _DIGEST.search if self.needs_digest else _EXACT.fullmatch
        addresses = [side.partition("#")[0] for side in (self.before, self.after) if "://" in side]
        majors = [_MAJOR.match(side) for side in (self.before, self.after)]
        if not self.after:
            return ""
        if _INDEX.fullmatch(self.name) or ("://" in self.after and len(set(addresses)) == len(addresses)):
            return "another source"
        if not fixed(self.after) and (not self.before or fixed(self.before)):
            return "not pinned"
        numbers = {major[1] for major in majors if major}
        return "major version" if len(numbers) > 1 else ""


def changed(before: str, after: str) -> tuple[Pin, ...]:
    """Return the packages and options of two requirements files that differ, Slipway first."""
    return compared(lines(before), lines(after))


def compared(before: Iterable[str], after: Iterable[str]) -> tuple[Pin, ...]:
    """Return the packages and options that differ between lines of requirements, Slipway first."""
    old = _by_name(before)
    new = _by_name(after)
    pins = []
    for name in sorted({*old, *new}, key=lambda name: (name != NAME, name)):
        was = _version(old.get(name), name)
        now = _version(new.get(name), name)
        if old.get(name) != new.get(name):
            pins.append(Pin(name, was, now if was != now else f"{now}, with another source or hash"))
    return tuple(pins)


def locked(text: str) -> list[str]:
    """Return the packages of uv.lock or poetry.lock, and the requirements of pyproject.toml."""
    packages = [f"{name}=={version}" for name, version in _LOCKED.findall(text)]
    return packages or _LISTED.findall(text.partition("dependencies")[2])


def _by_name(requirements: Iterable[str]) -> dict[str, str]:
    """Return the versions of each package and option. A package can have several lines, with markers."""
    found: dict[str, list[str]] = {}
    for line in requirements:
        option, _, value = _OPTION.sub(r"\1 ", line).partition(" ")
        name = _NAMED.fullmatch(line)
        # `-ihttps:…` has no space.
        key = package(name[1]) if name else option
        found.setdefault(HIDDEN if address_has_secret(key) else key, []).append(name[2] if name else value)
    return {key: "\n".join(sorted(versions)) for key, versions in found.items()}


def _version(required: str | None, name: str) -> str:
    """Return `8.2.0`: the version of a package, or of the wheel that an address names; the beginning of a commit."""
    if required is None:
        return ""
    text = _HASH.sub("", required).strip().removeprefix("==")
    wheel = _WHEEL.fullmatch(last_part(text))
    if has_secret(f"{name} {text}") or address_has_secret(text):
        return HIDDEN
    usual = ANY if name[0].isalnum() else "given"
    return wheel[1] if wheel else short(_COMMIT.sub(r"\1…", text)) or usual


def package(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(requirements: str) -> Iterator[str]:
    """Yield each requirement and option, without its comment."""
    for line in requirements.replace("\\\n", " ").splitlines():
        yield from filter(None, [re.sub(r"(^|\s)#.*", "", line).strip()])
