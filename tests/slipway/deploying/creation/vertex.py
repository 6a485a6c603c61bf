"""A Vertex AI with a test's prepared answers, and a clock that stands still but for pauses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from slipway.google.clusters import Operation, PersistentResource
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Answer, Call, Conflict, NoAnswer, NotFound, Unreachable, failure
from slipway.google.session import Session
from slipway.google.vertex import Vertex

LABELS = {"slipway-stack": "dev", "slipway-name": "cpu", "slipway-hash": "1a2b3c4"}
NAME = "projects/p/locations/r/persistentResources/"
CALL = Call("create cluster cpu-1a2b3c4", "aiplatform.persistentResources.create")
OPERATION = Operation("projects/p/locations/r/operations/1", done=False)

_T = TypeVar("_T", Operation, PersistentResource)
Step = PersistentResource | Operation | Exception | None


def refused(status: int, message: str = "no") -> Exception:
    return failure(CALL, Answer(status, "", message))


def unanswered() -> Exception:
    return NoAnswer(CALL, "the connection was closed")


def unreachable() -> Exception:
    return Unreachable(CALL, "nothing answers")


def taken() -> Exception:
    return Conflict(CALL, "exists", answer=Answer(409, "ALREADY_EXISTS", "exists"))


def gone() -> Exception:
    return NotFound(CALL, answer=Answer(404, "NOT_FOUND", "it does not exist"))


def cluster(
    state: str, error: str = "", code: int = 0, id_: str = "cpu-1a2b3c4", labels: Mapping[str, str] = LABELS
) -> PersistentResource:
    return PersistentResource(NAME + id_, state, labels, (), None, error, code)


RUNS = cluster("RUNNING")


class Script(Vertex):
    """A script: `posts` and `looks` are answered in turn, the last again and again. `asked` has the requests."""

    def __init__(self, posts: list[Step], looks: list[Step]) -> None:
        super().__init__(Session.__new__(Session), Endpoints(), "p", "r")
        self.posts, self.looks, self.asked = posts, looks, [""][:0]
        self.bodies: list[Any] = []
        self.ends: Step = OPERATION

    def create_persistent_resource(self, cluster: str, body: Any) -> Operation:
        self.asked.append(f"POST {cluster}")
        self.bodies.append(body)
        return _answer(self.posts, OPERATION)

    def persistent_resource(self, cluster: str) -> PersistentResource:
        self.asked.append(f"GET {cluster}")
        return _answer(self.looks, RUNS)

    def delete_persistent_resource(self, cluster: str) -> None:
        self.asked.append(f"DELETE {cluster.rsplit('/', 1)[-1]}")

    def operation(self, name: str) -> Operation:
        return _answer([self.ends], OPERATION)

    @property
    def sent(self) -> list[str]:
        """The requests that change something."""
        return [request for request in self.asked if not request.startswith("GET")]


def _answer(steps: list[Step], like: _T) -> _T:
    step = steps.pop(0) if len(steps) > 1 else steps[0]
    if isinstance(step, Exception):
        raise step
    assert isinstance(step, type(like))
    return step


@dataclass
class Waits:
    """A clock that stands still but for the pauses, which it records and does not spend."""

    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return sum(self.slept)

    def pause(self, seconds: float) -> None:
        self.slept.append(seconds)
