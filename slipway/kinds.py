"""The kinds of jobs: what Vertex AI calls each, and where its JSON has the machines. All made of one job spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Kind:
    """`name` as people and templates say it, `collection` in resource names, `spec` the key of the CustomJobSpec."""

    name: str
    collection: str
    spec: str
    words: str

    def spec_of(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The CustomJobSpec of a request or resource of this kind; empty when there is none."""
        found = body.get(self.spec, {})
        return found if isinstance(found, dict) else {}

    def trials(self, body: Mapping[str, Any]) -> int:
        """How many of its specs run at once; 1 for a job without trials."""
        return int(body.get("parallelTrialCount") or 1) if self is TUNING_JOB else 1


CUSTOM_JOB = Kind("custom-job", "customJobs", "jobSpec", "custom job")
TUNING_JOB = Kind("hyperparameter-tuning-job", "hyperparameterTuningJobs", "trialJobSpec", "hyperparameter tuning job")
PIPELINE = Kind("training-pipeline", "trainingPipelines", "trainingTaskInputs", "training pipeline")

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in (CUSTOM_JOB, TUNING_JOB, PIPELINE)})


def kind_of(name: str) -> Kind:
    """The kind in `projects/P/locations/R/COLLECTION/NUMBER`; a name without a collection is a custom job's."""
    return next((kind for kind in KINDS.values() if f"/{kind.collection}/" in name), CUSTOM_JOB)
