"""The kinds of jobs: how each compiles, reads back and is listed; JobKind has the defaults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from slipway.base.codec import camel
from slipway.model.labels import STACK_LABEL, label_value, record, recorded

if TYPE_CHECKING:
    from slipway.model.kinds.settings import ModelUpload, Study

Json = Mapping[str, Any]


class JobKind(ABC):
    """A kind of job. There is one object for each kind."""

    #: The word of people and templates for it.
    name: ClassVar[str]
    words: ClassVar[str]
    #: Its name in resource names.
    collection: ClassVar[str]
    message: ClassVar[str]
    module: ClassVar[str]
    #: The key of the CustomJobSpec in a request.
    spec: ClassVar[str]
    #: The command of gcloud that sends one, empty where job files are not written for it.
    gcloud: ClassVar[str] = ""
    #: The settings of a template for this kind alone: `study`, `model`.
    takes: ClassVar[tuple[str, ...]] = ()
    #: The ones among them that a template of this kind requires.
    needs: ClassVar[tuple[str, ...]] = ()
    #: True for a kind that runs its spec many times, each time as a custom job with its own claim.
    has_trials: ClassVar[bool] = False
    #: True where replicas log, and sign claims, under the job's own number, not under that of a job behind it.
    runs_itself: ClassVar[bool] = False
    #: The beginning of its states' names.
    states: ClassVar[str] = "JOB_STATE_"
    #: The final states of its jobs, without the prefix.
    ended: ClassVar[tuple[str, ...]] = ("CANCELLED", "EXPIRED", "FAILED", "PARTIALLY_SUCCEEDED", "SUCCEEDED")
    #: The states of custom jobs that its jobs never have, without the prefix.
    never: ClassVar[tuple[str, ...]] = ()
    cancel_method: ClassVar[str] = "cancel"
    #: The keys of a request under which any keys may stand.
    free: ClassVar[tuple[str, ...]] = ("labels",)
    #: The API's version that takes all that a request of it says.
    version: ClassVar[str] = "v1"
    #: The parameter of a create that has the job's id, empty where the service gives ids. A second job of an id is
    #: refused, so that of one request there is never more than one.
    id_parameter: ClassVar[str] = ""
    _only: ClassVar[Self]

    def __new__(cls) -> Self:
        """Return the only object of the kind, also for copies and unpickling: jobs of one kind compare equal."""
        if "_only" not in cls.__dict__:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return f"<{self.words}>"

    # Compiling

    def arguments(self, arguments: tuple[str, ...], study: Study | None) -> list[str]:
        """Return the template's arguments for the request."""
        return list(arguments)

    @abstractmethod
    def body(self, spec: Json, study: Study | None, model: ModelUpload | None, pipeline: Json | None) -> dict[str, Any]:
        """Return the request around a CustomJobSpec, without its name and labels."""

    def record(self, body: dict[str, Any], values: Mapping[str, Any]) -> None:
        """Write a submission's parameters into its request, in place. Raises ConfigError if it can't carry one."""
        record(self.spec_of(body), recorded(values))

    def job_id(self, body: Json) -> str:
        """Return the id of the job that a request asks for, where ids are ours: the same for the same request."""
        return f"{body['displayName']}-{label_value(body['labels'][STACK_LABEL]).replace('_', '-')}"

    def parsed(self, body: Json, parse: Callable[[JobKind, Json], Any]) -> Any:
        """Return the body as the official message, which `parse` makes; it raises for unknown fields."""
        return parse(self, body)

    # Reading back

    def spec_of(self, body: Json) -> dict[str, Any]:
        """Return the CustomJobSpec of a request or resource of this kind; empty when there is none."""
        spec = body.get(self.spec, {})
        return spec if isinstance(spec, dict) else {}

    def trials(self, body: Json) -> int:
        """Return how many of its specs run at once; 1 for a job without trials."""
        return 1

    def living(self, body: Json) -> tuple[Json, int]:
        """Return the CustomJobSpec of a job in the service's answer, and how many such specs run at once."""
        return self.spec_of(body), self.trials(body)

    def state(self, body: Json) -> str:
        """Return the state, named as a custom job's."""
        return str(body.get("state", "JOB_STATE_UNSPECIFIED")).replace(self.states, "JOB_STATE_")

    def backing(self, body: Json) -> str:
        """Return the name of the job that runs for it, empty while there is none, and for a job that runs itself."""
        return ""

    # Listing

    def can_match(self, filter: str) -> bool:
        """Return whether its jobs can have the state that a filter requires. Vertex AI rejects a state that a kind does
        not have."""
        return not any(f'state="JOB_STATE_{state}"' in filter for state in self.never)

    def filter(self, filter: str) -> str:
        """Return the API's filter for a list, from one with a custom job's states."""
        return filter.replace("JOB_STATE_", self.states)


class CustomJobKind(JobKind):
    name, words = "custom-job", "custom job"
    collection, message, module, spec = "customJobs", "CustomJob", "custom_job", "jobSpec"
    gcloud = "gcloud ai custom-jobs create"
    runs_itself = True

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None, pipeline: Json | None) -> dict[str, Any]:
        return {self.spec: spec}


CUSTOM_JOB = CustomJobKind()


class TuningJobKind(JobKind):
    name, words = "hyperparameter-tuning-job", "hyperparameter tuning job"
    collection, message = "hyperparameterTuningJobs", "HyperparameterTuningJob"
    module, spec = "hyperparameter_tuning_job", "trialJobSpec"
    takes = needs = ("study",)
    has_trials = True

    def arguments(self, arguments: tuple[str, ...], study: Study | None) -> list[str]:
        """Return the arguments without those that the service adds for each trial."""
        searched = tuple(f"--{name}=" for name in study.names()) if study else ()
        return [argument for argument in arguments if not argument.startswith(searched)]

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None, pipeline: Json | None) -> dict[str, Any]:
        from slipway.model.kinds.settings import study_spec  # No submission needs it.

        assert study is not None, "checked when the template was made"
        failed = {"maxFailedTrialCount": study.max_failed_trials} if study.max_failed_trials else {}
        return {
            "studySpec": study_spec(study),
            "maxTrialCount": study.max_trials,
            "parallelTrialCount": study.parallel_trials,
            **failed,
            self.spec: spec,
        }

    def trials(self, body: Json) -> int:
        return int(body.get("parallelTrialCount") or 1)


TUNING_JOB = TuningJobKind()


CUSTOM_TASK = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"


class TrainingPipelineKind(JobKind):
    name, words = "training-pipeline", "training pipeline"
    collection, message = "trainingPipelines", "TrainingPipeline"
    module, spec = "training_pipeline", "trainingTaskInputs"
    takes = ("model",)
    states, ended = "PIPELINE_STATE_", ("CANCELLED", "FAILED", "SUCCEEDED")
    never = ("EXPIRED", "PARTIALLY_SUCCEEDED", "UPDATING")

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None, pipeline: Json | None) -> dict[str, Any]:
        output = spec["baseOutputDirectory"]["outputUriPrefix"]
        return {
            "trainingTaskDefinition": CUSTOM_TASK,
            self.spec: spec,
            **(model.fields(output) if model is not None else {}),
        }

    def parsed(self, body: Json, parse: Callable[[JobKind, Json], Any]) -> Any:
        """Return the inputs as a custom job's message: to the pipeline's own type they are any JSON."""
        parse(CUSTOM_JOB, {CUSTOM_JOB.spec: body[self.spec]})
        return parse(self, body)

    def living(self, body: Json) -> tuple[Json, int]:
        """Read a job in the service's answer. Its inputs are a job's or a tuning job's, in either spelling of keys."""
        inputs = _in_camel_case(self.spec_of(body))
        tunes = TUNING_JOB.spec_of(inputs)
        return (tunes, TUNING_JOB.trials(inputs)) if tunes else (inputs, 1)

    def backing(self, body: Json) -> str:
        """Return the job that the service made for the pipeline. For a pipeline of others it may be a tuning job."""
        metadata = body.get("trainingTaskMetadata", {})
        if not isinstance(metadata, Mapping):
            return ""
        return str(metadata.get("backingCustomJob") or metadata.get("backingHyperparameterTuningJob") or "")


def _in_camel_case(value: Any) -> Any:
    """Return JSON with its keys in camelCase and without null.

    The SDK sends pipelines' inputs in snake_case, others send null for omitted values, and both come back unchanged.
    """
    if isinstance(value, Mapping):
        return {camel(key): _in_camel_case(item) for key, item in value.items() if item is not None}
    return [_in_camel_case(item) for item in value] if isinstance(value, list) else value


PIPELINE = TrainingPipelineKind()
