"""What every kind of job answers. What is here holds for a kind unless its own file says otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from slipway.kinds.model_upload import ModelUpload
    from slipway.kinds.study import Study

Json = Mapping[str, Any]


class JobKind(ABC):
    """`name` as people and templates say it, `words` in sentences; `collection` in resource names, `message` the
    official type with its `module`, `spec` the key of the CustomJobSpec. One object for each kind."""

    name: ClassVar[str]
    words: ClassVar[str]
    collection: ClassVar[str]
    message: ClassVar[str]
    module: ClassVar[str]
    spec: ClassVar[str]

    gcloud: ClassVar[str] = ""
    """The command of gcloud that sends one, empty where job files are not written for it."""

    takes: ClassVar[tuple[str, ...]] = ()
    """What a template says for this kind alone: `study`, `model`."""

    needs: ClassVar[tuple[str, ...]] = ()
    """What of that a template of this kind must say."""

    has_trials: ClassVar[bool] = False
    """It runs its spec many times, each time as a custom job with a claim of its own."""

    runs_itself: ClassVar[bool] = False
    """Its replicas log, and sign claims, under its own number, and not under that of a job behind it."""

    ended: ClassVar[tuple[str, ...]] = ("CANCELLED", "EXPIRED", "FAILED", "PARTIALLY_SUCCEEDED", "SUCCEEDED")
    """The states that its jobs never leave, without the prefix."""

    cancel_method: ClassVar[str] = "cancel"

    _only: ClassVar[Self]

    def __new__(cls) -> Self:
        """The one that there is, also for who copies or unpickles it: what has the same kind compares equal."""
        if "_only" not in cls.__dict__:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return f"<{self.words}>"

    # How it compiles

    def arguments(self, arguments: tuple[str, ...], study: Study | None) -> list[str]:
        """Those of the template's arguments that the request names."""
        return list(arguments)

    @abstractmethod
    def body(self, spec: Json, study: Study | None, model: ModelUpload | None) -> dict[str, Any]:
        """The request around a CustomJobSpec, without its name and labels."""

    def parsed(self, body: Json, parse: Callable[[JobKind, Json], Any]) -> Any:
        """The body as the official message, which `parse` makes; it raises for what does not belong there."""
        return parse(self, body)

    # How it reads back

    def spec_of(self, body: Json) -> dict[str, Any]:
        """The CustomJobSpec of a request or resource of this kind; empty when there is none."""
        found = body.get(self.spec, {})
        return found if isinstance(found, dict) else {}

    def trials(self, body: Json) -> int:
        """How many of its specs run at once; 1 for a job without trials."""
        return 1

    def living(self, body: Json) -> tuple[Json, int]:
        """The CustomJobSpec of a job that the service tells of, and how many such specs run at once."""
        return self.spec_of(body), self.trials(body)

    def state(self, body: Json) -> str:
        """As a custom job's states are named."""
        return str(body.get("state", "JOB_STATE_UNSPECIFIED"))

    def backing(self, body: Json) -> str:
        """The name of the job that it runs as, empty while it has none, and for a job that runs itself."""
        return ""

    # How it is listed

    def filter(self, filter: str) -> str:
        """The API's filter for a list, from one that names states as a custom job's are named."""
        return filter
