"""Routes from method and raw path to a handler and the path's parameters."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from .wire import Handler, Route

_PARAMETER = re.compile(r"\{(\w+)(?::([^}]+))?\}")
_KINDS = {None: r"[^/:]+", "any": r"[^/]+", "path": r".+"}


@dataclass(frozen=True)
class _Compiled:
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    literals: int
    needs: str


def pattern(template: str) -> re.Pattern[str]:
    """Return the regular expression of a path template, for paths that are still percent-encoded."""
    parts: list[str] = []
    at = 0
    for match in _PARAMETER.finditer(template):
        parts.append(re.escape(template[at : match.start()]))
        name, kind = match.groups()
        parts.append(f"(?P<{name}>{_KINDS.get(kind) or kind})")
        at = match.end()
    parts.append(re.escape(template[at:]))
    return re.compile("".join(parts))


def _compiled(route: Route) -> _Compiled:
    path, _, needs = route.template.partition("?")
    return _Compiled(route.method, pattern(path), route.handler, len(_PARAMETER.sub("", path)), needs)


class Router:
    """The routes of a server. Of those that fit, the one with the most literal text wins, so `{job}:cancel` goes before
    `{job:any}`."""

    def __init__(self, routes: Iterable[Route]) -> None:
        compiled = [_compiled(route) for route in routes]
        compiled.sort(key=lambda route: -route.literals)
        self._by_method: dict[str, list[_Compiled]] = {}
        for route in compiled:
            self._by_method.setdefault(route.method, []).append(route)

    def find(self, method: str, raw_path: str, query: Collection[str] = ()) -> tuple[Handler, Mapping[str, str]] | None:
        """Return the handler and its decoded parameters, or None when nothing serves this method, path and query
        (names)."""
        for route in self._by_method.get(method, ()):
            match = route.pattern.fullmatch(raw_path)
            if match and (not route.needs or route.needs in query):
                return route.handler, {name: unquote(value) for name, value in match.groupdict().items()}
        return None
