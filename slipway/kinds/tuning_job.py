"""A hyperparameter tuning job: its spec run as many trials, each with arguments that the service chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.kinds.kind import JobKind, Json

if TYPE_CHECKING:
    from slipway.kinds.model_upload import ModelUpload
    from slipway.kinds.study import Study


class TuningJobKind(JobKind):
    name, words = "hyperparameter-tuning-job", "hyperparameter tuning job"
    collection, message = "hyperparameterTuningJobs", "HyperparameterTuningJob"
    module, spec = "hyperparameter_tuning_job", "trialJobSpec"
    takes = needs = ("study",)
    has_trials = True

    def arguments(self, arguments: tuple[str, ...], study: Study | None) -> list[str]:
        """Without those that the service adds for each trial."""
        searched = tuple(f"--{name}=" for name in study.names()) if study else ()
        return [argument for argument in arguments if not argument.startswith(searched)]

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None) -> dict[str, Any]:
        from slipway.kinds.study import study_spec  # Which no submission needs.

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
