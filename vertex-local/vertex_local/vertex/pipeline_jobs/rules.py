"""Rules for a pipeline job."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...nodes import mounts, no_buckets
from ...wire import ApiError, unimplemented
from ..field_errors import Mistake, directory_mistakes, display_name_mistakes, key_mistakes, label_mistakes
from ..network import network_mistakes
from . import definition, values
from .definition import InvalidError, UnservedError

ID = re.compile(r"[a-z][a-z0-9-]{0,127}")
MOST_IN_BATCH = 32
_NAME = re.compile(r"projects/[^/]+/locations/([^/]+)/pipelineJobs/[^/]+")
_CLUSTER = re.compile(r"projects/[^/]+/locations/([^/]+)/persistentResources/[^/]+")


def batch_mistakes(names: Sequence[str], region: str) -> list[Mistake]:
    """Return the errors in the names of jobs that are to be cancelled or deleted together."""
    if not 1 <= len(names) <= MOST_IN_BATCH:
        return [Mistake("names", f"1 to {MOST_IN_BATCH} names of pipeline jobs are required.")]
    text = f"must be the name of a pipeline job in {region}: projects/…/locations/{region}/pipelineJobs/…"
    odd = [at for at, name in enumerate(names) if (match := _NAME.fullmatch(name)) is None or match[1] != region]
    return [Mistake(f"names[{at}]", f'"{names[at]}" {text}.') for at in odd]


def mistakes(body: Mapping[str, Any], job_id: str, region: str) -> list[Mistake]:
    """Return the errors in a create's canonical body, whatever it is to run on."""
    problems = display_name_mistakes("pipeline_job.display_name", body.get("displayName", ""))
    problems += label_mistakes("pipeline_job.labels", body.get("labels", {}))
    if job_id and not ID.fullmatch(job_id):
        text = f'"{job_id}" must be at most 128 of a-z, 0-9 and "-", the first of them a letter.'
        problems.append(Mistake("pipeline_job_id", text))
    config = body.get("runtimeConfig", {})
    directory = config.get("gcsOutputDirectory", "")
    problems += directory_mistakes("pipeline_job.runtime_config.gcs_output_directory", directory)
    problems += [*network_mistakes("pipeline_job", body, region), *key_mistakes("pipeline_job", body, region)]
    cluster = cluster_of(body)
    if cluster and (match := _CLUSTER.fullmatch(cluster)) is None:
        problems.append(Mistake(_DETAIL, f'"{cluster}" is not the name of a persistent resource.'))
    elif cluster and match and match[1] != region:
        problems.append(Mistake(_DETAIL, f"The persistent resource is in {match[1]}; the pipeline job in {region}."))
    if not isinstance(body.get("pipelineSpec", {}).get("root", {}).get("dag"), Mapping):
        return [*problems, Mistake("pipeline_job.pipeline_spec", "A compiled pipeline with root.dag is required.")]
    try:
        definition.tasks(body["pipelineSpec"])
    except InvalidError as error:
        problems.append(Mistake("pipeline_job.pipeline_spec", f"{str(error)[:1].upper()}{str(error)[1:]}."))
    except UnservedError:
        pass  # What the service would take, `not_here` tells.
    return [*problems, *_parameters(body["pipelineSpec"], config.get("parameterValues", {}))]


_DETAIL = "pipeline_job.runtime_config.default_runtime.persistent_resource_runtime_detail.persistent_resource_name"


def _parameters(spec: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Mistake]:
    path, known = "pipeline_job.runtime_config.parameter_values", definition.parameters(spec)
    for name, value in given.items():
        if name not in known:
            yield Mistake(path, f"The pipeline has no parameter {name}.")
        elif not values.fits(value, known[name].get("parameterType", "")):
            yield Mistake(path, f"The parameter {name} is a {known[name]['parameterType']}, not {value!r}.")
    for name, defined in known.items():
        if name not in given and "defaultValue" not in defined and not defined.get("isOptional"):
            yield Mistake(path, f"The parameter {name} is required.")


def not_here(body: Mapping[str, Any]) -> ApiError | None:
    """Return the 501 of a pipeline job that the service would take and this cloud does not run, or None."""
    config = body["runtimeConfig"]
    version = str(body["pipelineSpec"].get("schemaVersion", ""))
    if not version.startswith("2.1") or "parameters" in config:
        return unimplemented(f"The local cloud runs pipelines of schema 2.1, which kfp 2 writes, not of {version!r}.")
    for field in ("inputArtifacts", "templateUri", "pipelineTaskRerunConfigs", "originalPipelineJobId"):
        if field in config or field in body:
            return unimplemented(f"{field} is not in the local cloud.")
    try:
        definition.tasks(body["pipelineSpec"])
    except UnservedError as error:
        return unimplemented(f"The local cloud can't run this pipeline: {error}. Vertex AI does.")
    if not mounts.possible(buckets=True):
        return unimplemented(f"Tasks write their outputs below /gcs/, and {no_buckets.WHY}.")
    return None


def cluster_of(body: Mapping[str, Any]) -> str:
    """Return the full name of the persistent resource that a pipeline job's tasks run on; "" for own machines."""
    return str(detail_of(body).get("persistentResourceName", ""))


def detail_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (
        body.get("runtimeConfig", {}).get("defaultRuntime", {}).get("persistentResourceRuntimeDetail", {})
    )
    return found
