"""A custom job: its spec, run once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.kinds.kind import JobKind, Json

if TYPE_CHECKING:
    from slipway.kinds.model_upload import ModelUpload
    from slipway.kinds.study import Study


class CustomJobKind(JobKind):
    name, words = "custom-job", "custom job"
    collection, message, module, spec = "customJobs", "CustomJob", "custom_job", "jobSpec"
    gcloud = "gcloud ai custom-jobs create"
    runs_itself = True

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None) -> dict[str, Any]:
        return {self.spec: spec}


CUSTOM_JOB = CustomJobKind()
