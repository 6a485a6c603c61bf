"""A forge's REST API: JSON objects, lists page by page, and refusals with their fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from slipway.base.errors import ConfigError, ResourceError
from slipway.base.formatting import join
from slipway.google.answers import Json, json_list, shaped
from slipway.google.failures import Call, CloudError, Denied, NotFound, Unauthenticated
from slipway.google.session import Params, Session

Found = TypeVar("Found")

_PAGES, _PAGE = 20, 100
"""The most pages that are read, and their items: the most that GitHub and GitLab give."""


@dataclass(frozen=True)
class Rest:
    """A client."""

    session: Session
    #: The beginning of all paths, without the slash after it.
    url: str

    def get(self, path: str, doing: str, read: Callable[[Json], Found]) -> Found:
        """Return an object, as `read` reads it. `doing` continues "could not …"."""
        call = Call(doing)
        return shaped(call, read, self.session.get(f"{self.url}/{path}", call))

    def maybe(self, path: str, doing: str, read: Callable[[Json], Found]) -> Found | None:
        """Return what `get` does; None for a missing object, or one hidden from the caller."""
        with suppress(NotFound):
            return self.get(path, doing, read)
        return None

    def listed(
        self, path: str, doing: str, read: Callable[[Json], Found], params: Params | None = None
    ) -> Iterator[Found]:
        """Yield each item, as `read` reads it. Raises ResourceError where there are too many."""
        call = Call(doing)
        for page in range(1, 1 + _PAGES):
            asked = {**(params or {}), "per_page": _PAGE, "page": page}
            items = json_list(self.session.download(f"{self.url}/{path}", call, asked), call)
            yield from (shaped(call, read, item) for item in items)
            if len(items) < _PAGE:
                return
        fix = "open another merge request for the same branch"
        raise ResourceError(f"could not {doing}", why=f"there are {_PAGES * _PAGE:,} or more", fix=fix)

    def write(self, method: str, path: str, doing: str, body: Json, read: Callable[[Json], Found]) -> Found:
        """Send an object once, by POST, PUT or PATCH."""
        call = Call(doing)
        return shaped(call, read, self.session.write(method, f"{self.url}/{path}", call, body))


def settings(environ: Mapping[str, str], names: Sequence[str], forge: str, fix: str) -> tuple[str, ...]:
    """Return these variables of a CI job. Raises ConfigError where one is not set."""
    if missing := [name for name in names if not environ.get(name)]:
        why = f"{join(missing)} {'is' if len(missing) == 1 else 'are'} not set"
        raise ConfigError(f"{forge} can't be asked", why=why, fix=fix)
    return tuple(environ[name] for name in names)


@contextmanager
def refused(fix: str) -> Iterator[None]:
    """Raise an API's refusal as a forge's, without Google's roles; with this fix where a right is missing."""
    try:
        yield
    except CloudError as problem:
        if not isinstance(problem, Unauthenticated | Denied | NotFound) or "rate limit" in problem.message:  # A 403.
            fix = "run this again, once that API answers as usual"
        raise ResourceError(problem.what, why=problem.message, fix=fix) from problem
