"""Routes from method and raw path to a handler and the path's parameters."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import unquote

from . import discovery, partial_responses
from .wire import Call, Handler, Reply, Route

_PARAMETER = re.compile(r"\{(\w+)(?::([^}]+))?\}")
_PROJECT = r"(?:[^/:]*\.[^/:]*(?::|%3[Aa]))?[^/:]+"
"""A project's id, with its domain where it has one (`acme.example:ml`)."""
_KINDS = {None: r"[^/:]+", "any": r"[^/]+", "path": r".+"}


@dataclass(frozen=True)
class _Compiled:
    route: Route
    pattern: re.Pattern[str]
    literals: int


@cache
def pattern(template: str) -> re.Pattern[str]:
    """Return the regular expression of a path template, for paths that are still percent-encoded."""
    parts: list[str] = []
    at = 0
    for match in _PARAMETER.finditer(template):
        parts.append(re.escape(template[at : match.start()]))
        name, kind = match.groups()
        if name == "project" and kind is None:
            kind = _PROJECT
        parts.append(f"(?P<{name}>{_KINDS.get(kind) or kind})")
        at = match.end()
    parts.append(re.escape(template[at:]))
    return re.compile("".join(parts))


class Router:
    """The routes of a server. The one with the most literal text wins: `{job}:cancel` before `{job:any}`."""

    def __init__(self, routes: Iterable[Route]) -> None:
        compiled = [
            _Compiled(route, pattern(route.template), len(_PARAMETER.sub("", route.template))) for route in routes
        ]
        compiled.sort(key=lambda route: -route.literals)
        self._by_method: dict[str, list[_Compiled]] = {}
        for route in compiled:
            self._by_method.setdefault(route.route.method, []).append(route)

    def find(self, method: str, raw_path: str) -> tuple[Handler, Mapping[str, str]] | None:
        """Return the handler and its decoded parameters, or None when nothing serves this method and path."""
        fitting = self._fitting(method, raw_path)
        return None if fitting is None else (fitting[0].handler, fitting[1])

    def answer(self, call: Call, admit: Callable[[Route], None] = lambda _: None) -> Reply | None:
        """Return the answer to a call whose path is still percent-encoded and whose `pairs` are as they were sent, or
        None when nothing serves it. `admit` is asked before anything else of the call is looked at. Raises ApiError."""
        fitting = self._fitting(call.method, call.path)
        if fitting is None:
            return None
        route, params = fitting
        admit(route)
        discovery.check_query(call.method, call.path, call.pairs)
        pairs = discovery.bound(call.pairs)
        bound = replace(call, path=unquote(call.path), params=params, query=dict(pairs), pairs=pairs)
        text = partial_responses.asked(bound)
        wanted = discovery.in_response(call.method, call.path, text) if text else {}
        return partial_responses.selected(route.handler(bound), wanted)

    def _fitting(self, method: str, raw_path: str) -> tuple[Route, Mapping[str, str]] | None:
        for compiled in self._by_method.get(method, ()):
            match = compiled.pattern.fullmatch(raw_path)
            if match:
                return compiled.route, {name: unquote(value) for name, value in match.groupdict().items()}
        return None
