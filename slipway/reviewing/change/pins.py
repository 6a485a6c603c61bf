"""Pinned packages, actions and images, and those that differ between two texts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slipway.authoring.stack.secrets import address_has_secret, has_secret
from slipway.base.formatting import last_part, short
from slipway.base.installation import NAME
from slipway.reviewing.change.secret_values import HIDDEN, change

ANY = "any version"
FOREIGN = "another source"
UNPINNED = "not pinned"
MAJOR = "major version"
OLD_HASHES = "with the hashes of the version before, which pip rejects"
NO_HASH = "without a hash, for which pip rejects the whole list"
REMARKS = (NO_HASH, FOREIGN, OLD_HASHES, UNPINNED, MAJOR)
"""Remarks on a dependency, the worst first."""
_NAMED = re.compile(r"^[A-Za-z0-9][\w.-]*")
_NAME_BEFORE = re.compile(r"^(-\S+|[A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*")
_OPTION = re.compile(r"^(--[\w-]+)=")
_HASH = re.compile(r"\s*(--hash[ =]\s*\S+|#\S*$)")
_HASHES = re.compile(r"--hash[ =]\s*(\S+)")
_COMMIT = re.compile(r"(@[0-9a-f]{12})[0-9a-f]{28}\b")
_WHEEL = re.compile(r"^[^-]+-([^-]+)-.*\.whl$")
_DIGEST = re.compile(r"\b[0-9a-f]{40}\b|sha256:")
_EXACT = re.compile(r"(==+)?\s*v?\d+(\.[\w.+!]+)?(\s*;.*|, with .*)?|@.*|given|none", re.DOTALL)
_ADDRESS = re.compile(r"\w+://[^#\s]+")
_NUMBER = re.compile(r"^[=v]*(\d{1,4})(?:[.\s,-]|$)")
_INDEX = re.compile(r"-i.*|--(extra-)?index-url|--find-links|-f.*|--trusted-host|\(not shown\)")
_LOCKED = re.compile(r'^name = "(.+)"\nversion = "(.+)"$', re.MULTILINE)
_SOURCE = re.compile(r"""(?:url|registry)\s*=\s*["'](https?://[^"'#]+?/simple)/?["']""")
_LISTED = re.compile(r'"([A-Za-z][\w.-]*(?:\[[\w, -]*\])?\s*(?:[@=<>~!;].*)?)"')


@dataclass(frozen=True)
class Pin:
    """A dependency from one version to another. An empty side does not list it."""

    name: str
    before: str
    after: str
    #: An action or an image, which is pinned by a digest alone.
    needs_digest: bool = False
    #: `OLD_HASHES` or `NO_HASH`; empty if the hashes are right as far as a list tells.
    wrong_hashes: str = ""

    def __str__(self) -> str:
        """Return `` `click` `8.2.0` → `8.3.0` (major version) ``."""
        remark = f" ({self.remark})" if self.remark else ""
        return f"`{self.name.replace('`', chr(39))}` {change(self.before, self.after)}{remark}"

    @property
    def is_new(self) -> bool:
        return not self.before

    @property
    def remark(self) -> str:
        """The worst remark that the new version deserves; empty if there is none."""
        if not self.after:
            return ""
        is_fixed = _DIGEST.search if self.needs_digest else _EXACT.fullmatch
        if _INDEX.fullmatch(self.name) or {*_ADDRESS.findall(self.after)} - {*_ADDRESS.findall(self.before)}:
            return FOREIGN
        if self.wrong_hashes:
            return self.wrong_hashes
        if not is_fixed(self.after) and (self.is_new or is_fixed(self.before)):
            return UNPINNED
        majors = {*_NUMBER.findall(self.before), *_NUMBER.findall(self.after)}
        return MAJOR if len(majors) > 1 else ""


def compared(before: Iterable[str], after: Iterable[str]) -> tuple[Pin, ...]:
    """Return the packages and options that differ between lines of requirements, Slipway first."""
    old = _by_name(before)
    new = _by_name(after)
    differing = dict(old.items() ^ new.items())
    has_hashes = any(map(_HASHES.search, new.values()))
    pins = []
    for name in sorted(differing, key=lambda name: (name != NAME, name)):
        was = _version(old.get(name, ""), name)
        now = _version(new.get(name, ""), name)
        after = now if was != now else f"{now}, with another source or hash"
        wrong = _wrong_hashes(old.get(name, ""), new.get(name, ""), has_hashes=has_hashes) if was != now else ""
        pins.append(Pin(name, was, after, wrong_hashes=wrong))
    return tuple(pins)


def _wrong_hashes(before: str, after: str, *, has_hashes: bool) -> str:
    """Return why pip rejects the hashes of another version; empty if it may accept them."""
    hashes = _HASHES.findall(after)
    if hashes:
        return OLD_HASHES if hashes == _HASHES.findall(before) else ""
    is_package = _NAMED.match(after) is not None
    return NO_HASH if has_hashes and is_package else ""


def locked(text: str) -> list[str]:
    """Return the packages of uv.lock or poetry.lock, or the requirements of pyproject.toml, with their indexes."""
    indexes = [f"--index-url {address}" for address in sorted({*_SOURCE.findall(text)})]
    packages = [f"{name}=={version}" for name, version in _LOCKED.findall(text)]
    return indexes + (packages or _LISTED.findall(text.partition("dependencies")[2]))


def _by_name(requirements: Iterable[str]) -> dict[str, str]:
    """Return the lines of each package and option. A package can have several lines, with markers."""
    found: dict[str, list[str]] = {}
    for line in sorted(requirements):
        option = _OPTION.sub(r"\1 ", line).partition(" ")[0]
        name = (*_NAMED.findall(line), option)[0]
        # `-ihttps:…` has no space.
        found.setdefault(HIDDEN if address_has_secret(name) else package(name), []).append(line)
    return {key: "\n".join(versions) for key, versions in found.items()}


def _version(listed: str, name: str) -> str:
    """Return `8.2.0`: the version of a package, or of the wheel that an address names; the beginning of a commit."""
    if has_secret(listed) or address_has_secret(listed):
        return HIDDEN
    text = _HASH.sub("", _NAME_BEFORE.sub("", _OPTION.sub(r"\1 ", listed))).strip().removeprefix("==")
    wheel = _WHEEL.findall(last_part(text))
    usual = ANY if name[0].isalnum() else "given"
    version = (*wheel, short(_COMMIT.sub(r"\1…", text)) or usual)[0]
    return version if listed else ""


def package(name: str) -> str:
    """Return a package's normal name; an option itself."""
    return name if name.startswith("-") else re.sub(r"[-_.]+", "-", name).lower()


def lines(requirements: str) -> Iterator[str]:
    """Yield each requirement and option, without its comment."""
    for line in requirements.replace("\\\n", " ").splitlines():
        yield from filter(None, [re.sub(r"(^|\s)#.*", "", line).strip()])
