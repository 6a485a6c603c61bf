"""Pinned packages, actions and images, and those that differ between two texts. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from slipway.authoring.stack.secrets import address_has_secret, has_secret
from slipway.base.formatting import last_part, short
from slipway.base.installation import NAME
from slipway.reviewing.change.secret_values import HIDDEN, change

PINS, LAPTOP = "requirements.txt", "requirements-local.txt"
"""Files of pins: of the deployment, and of a laptop, from which people deploy too."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*(.*)", re.DOTALL)
_OPTION = re.compile(r"^(--[\w-]+)=")
_HASH = re.compile(r"\s*(--hash[ =]\s*\S+|#\S*$)")
_COMMIT = re.compile(r"(@[0-9a-f]{12})[0-9a-f]{28}\b")
_WHEEL = re.compile(r"[^-]+-([^-]+)-.*\.whl")
_EXACT = re.compile(r"\(?(==+)?\s*v?(\d+)(\.[\w.+!]+)?\)?\s*(;.*)?|@.*|.*@sha256:[0-9a-f]{6,}.*|[0-9a-f]{40}", re.DOTALL)
_NUMBER = re.compile(r"(?:.*:)?[=v(]*(\d+)(?:[.\s-]|$)")
_INDEX = re.compile(r"-i.*|--(extra-)?index-url|--find-links|-f.*|--trusted-host")


@dataclass(frozen=True)
class Pin:
    """A dependency from one version to another. An empty side does not list it."""

    name: str
    before: str
    after: str
    #: An action or an image, which is pinned by a hash alone.
    needs_hash: bool = False

    def __str__(self) -> str:
        """Return `` `click` `8.2.0` → `8.3.0` ``."""
        return f"`{self.name.replace('`', chr(39))}` {change(self.before, self.after)}"

    @property
    def is_unpinned(self) -> bool:
        """Return whether the new version is not fixed, though the old one was or this is new."""
        if not self.after or self._is_fixed(self.after) or self.is_foreign:
            return False
        return not self.before or self._is_fixed(self.before)

    def _is_fixed(self, version: str) -> bool:
        if self.needs_hash:
            return re.search(r"\b[0-9a-f]{40}\b|sha256:", version) is not None
        return _EXACT.fullmatch(version) is not None

    @property
    def is_foreign(self) -> bool:
        """Return whether packages come from another index or address."""
        if not self.after:
            return False
        if _INDEX.fullmatch(self.name) or self.name == HIDDEN:
            return True
        return "://" in self.after and self.after.partition("#")[0] != self.before.partition("#")[0]

    @property
    def is_major(self) -> bool:
        old = _NUMBER.match(self.before)
        new = _NUMBER.match(self.after)
        return old is not None and new is not None and old[1] != new[1]


def changed(before: str, after: str) -> tuple[Pin, ...]:
    """Return the packages and options of two requirements files that differ, Slipway first."""
    return compared(lines(before), lines(after))


def compared(before: Iterable[str], after: Iterable[str]) -> tuple[Pin, ...]:
    """Return the packages and options that differ between lines of requirements, Slipway first."""
    old = _by_name(before)
    new = _by_name(after)
    pins = []
    for name in sorted({*old, *new}, key=lambda name: (name != NAME, name)):
        if old.get(name) == new.get(name):
            continue
        was = _version(old.get(name), name)
        now = _version(new.get(name), name)
        if was == now:
            now = f"{now}, with another source or hash"
        pins.append(Pin(name, was, now))
    return tuple(pins)


def locked(path: str, text: str) -> list[str]:
    """Return the dependencies of pyproject.toml, or the packages of uv.lock or poetry.lock, as requirements."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return []
    if not path.endswith("pyproject.toml"):
        packages = [package for package in document.get("package", ()) if isinstance(package, Mapping)]
        return [f"{package.get('name')}=={package.get('version')}" for package in packages]
    project = document.get("project", {})
    listed = [str(line) for line in project.get("dependencies", ())]
    for extra in project.get("optional-dependencies", {}).values():
        listed += [str(line) for line in extra]
    return listed


def _by_name(requirements: Iterable[str]) -> dict[str, str]:
    """Return the versions of each package and option. A package can have several lines, with markers."""
    found: dict[str, list[str]] = {}
    for line in requirements:
        name = _NAMED.fullmatch(line)
        if name:
            found.setdefault(package(name[1]), []).append(name[2])
            continue
        option, _, value = _OPTION.sub(r"\1 ", line).partition(" ")
        # `-ihttps:…` has no space.
        found.setdefault(HIDDEN if address_has_secret(option) else option, []).append(value)
    return {key: "\n".join(sorted(versions)) for key, versions in found.items()}


def _version(required: str | None, name: str) -> str:
    """Return `8.2.0`: the version of a package, or of the wheel that an address names; the beginning of a commit."""
    if required is None:
        return ""
    text = _HASH.sub("", required).strip().removeprefix("==")
    wheel = _WHEEL.fullmatch(last_part(text))
    version = wheel[1] if wheel else _COMMIT.sub(r"\1…", text)
    if has_secret(f"{name} {text}") or address_has_secret(text):
        return HIDDEN
    if version:
        return short(version)
    return "any version" if name[0].isalnum() else "given"


def package(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(requirements: str) -> Iterator[str]:
    """Yield each requirement and option, without its comment."""
    for line in requirements.replace("\\\n", " ").splitlines():
        text = re.sub(r"(^|\s)#.*", "", line).strip()
        if text:
            yield text
