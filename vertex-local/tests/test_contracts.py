"""Requests that Google's services answer so by their reference, right and wrong, a line each in `contracts/`. (N17)

A line is the status, the method, the path with its query, and the body: `path.in.body=JSON` for each field, `-path` for
one that is taken away, `@name` for a body of its own line, `as:role` for another caller, `raw:TEXT` for what is not
JSON. `9*JSON` repeats a text or a list, and makes nine keys of an object's one. After `says:` stand words of the
refusal, from its status, message or details, or of the answer's JSON, with `…` between two; before what must not be
there stands `!`. All lines of a file are sent to one new cloud, in their order.
"""

import copy
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from vertex_local.projects import Projects
from vertex_local.router import Router
from vertex_local.server import control
from vertex_local.server.main import load_services
from vertex_local.testing.calling import PARENT, Calling
from vertex_local.wire import ApiError

FOLDER = Path(__file__).with_name("contracts")
NAMES = {"$R": f"/v1/{PARENT}", "$P": "local-project", "$N": "100000000001"}
WORD = re.compile(r"\s*(?:(@\w+)|-([\w.]+)|as:(\S+)|raw:(.*)|([\w.]+)=(?:(\d+)\*)?)")


def repeated(times: int, value: Any) -> Any:
    if isinstance(value, dict):
        return {f"{key}{at}": item for at in range(times) for key, item in value.items()}
    return value * times


def changed(body: Any, path: list[str], value: Any) -> Any:
    """The body with a value at a path, or without what is there when the value is None."""
    head, rest = path[0], path[1:]
    if head.isdigit():
        items = list(body or [])
        items[int(head) : int(head) + 1] = [changed((items[int(head) :] or [{}])[0], rest, value) if rest else value]
        return items
    body_changed = dict(body or {})
    if rest:
        body_changed[head] = changed(body_changed.get(head), rest, value)
    elif value is None:
        body_changed.pop(head, None)
    else:
        body_changed[head] = value
    return body_changed


def body_of(text: str, bodies: dict[str, Any]) -> tuple[Any, str, str]:
    """The body that a line's rest describes, None without one; the caller; what is no JSON."""
    body: Any = None
    role, raw, at = "owner", "", 0
    while text[at:].strip():
        match = WORD.match(text, at)
        assert match, text[at:]
        base, gone, caller, rest, path, times = match.groups()
        at = match.end()
        if base:
            body = copy.deepcopy(bodies[base])
        elif gone:
            body = changed(body, gone.split("."), None)
        elif path:
            value, at = json.JSONDecoder().raw_decode(text, at)
            body = changed(body, path.split("."), repeated(int(times), value) if times else value)
        role, raw = caller or role, (rest or raw).strip()
    return body, role, raw


def written(name: str) -> list[str]:
    """The lines of a file, with what their names mean."""
    lines = []
    for line in (FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            for short, meant in NAMES.items():
                line = line.replace(short, meant)
            lines.append(line)
    return lines


@dataclass(frozen=True)
class Line:
    """A line: what is sent (method, path, body, role, raw body), the status, and words of the answer."""

    text: str
    status: int
    sent: tuple[str, str, Any, str, bytes]
    words: str


def requests(name: str) -> Iterator[Line]:
    """Yield the requests of a file."""
    bodies: dict[str, Any] = {}
    for line in written(name):
        head, _, rest = line.partition(" ")
        if head.startswith("@"):
            bodies[head], _, _ = body_of(rest, bodies)
            continue
        rest, _, words = rest.partition(" says:")
        method, path, rest = (rest + "  ").split(" ", 2)
        body, role, raw = body_of(rest, bodies)
        yield Line(line, int(head), (method, path, body, role, raw.encode()), words)


def differing(calling: Calling, lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        try:
            answer = calling.reply(*line.sent)
            status, why = answer.status, compact(answer.body)
        except ApiError as error:
            status, why = error.code, f"{error.status} {error.message} {compact(error.details)}"
        if status != line.status or not all(
            fits(part.strip().lower(), why.lower()) for part in line.words.split(" … ")
        ):
            yield f"{status} instead of {line.text[:150]}   {why[:1000]}"


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=repr)


def fits(part: str, why: str) -> bool:
    return (part.removeprefix("!") in why) is not part.startswith("!")


FILES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize("name", FILES)
def test_it_answers_as_the_reference_says(calling: Calling, name: str) -> None:
    routes = [route for service in load_services() for route in service.routes(calling.world)]
    controlled = replace(calling, router=Router([*routes, *control.routes(Projects(calling.world), ())]))
    listed = list(differing(controlled, requests(name)))
    assert listed == [], "\n".join(listed)


def test_every_method_has_a_line(calling: Calling) -> None:
    asked = {(words[1], words[2]) for name in FILES for line in written(name) if len(words := line.split(" ")) > 2}
    seen = {served(calling, verb, path) for verb, path in asked}
    routes = [route for service in load_services() for route in service.routes(calling.world)]
    # Batches and shells have tests of their own.
    apart = ("/batch", "/resumable", "/download", "/interactive_shell")
    methods = {name_of(route.handler): route for route in routes if not route.template.startswith(apart)}
    assert [f"{routed.method} {routed.template}" for name, routed in methods.items() if name not in seen] == [
        "DELETE /upload/storage/v1/b/{bucket:any}/o"
    ]


def served(calling: Calling, verb: str, path: str) -> str:
    route = calling.router.find(verb, path.partition("?")[0])
    return name_of(route[0]) if route else ""


def name_of(handler: Any) -> str:
    """The method of a class, or the function of a module, that a route leads to."""
    owner = getattr(handler, "__self__", None)
    return f"{handler.__module__}.{handler.__qualname__}" if owner is None else f"{type(owner)}.{handler.__name__}"
