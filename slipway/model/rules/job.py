"""Rules of a job as a whole: names, labels, mounts, network, identity, boards, experiments, and uploaded models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from slipway.model.kinds.kind import CUSTOM_TASK, PIPELINE
from slipway.model.rules.code import IMAGE
from slipway.model.rules.rule import Rule, Subject, Worker, as_int, each_worker, mapping, twice

LONGEST_NAME = 128
MOST_LABELS = 64
LARGEST_PORT = 65_535
LABEL_KEY = re.compile(r"(?=[^\W\d_A-Z])[^\WA-Z][\w-]{0,63}")
LABEL_VALUE = re.compile(r"[\w-]{0,64}")
_REGISTRY = re.compile(r"([a-z0-9-]+-docker\.pkg\.dev|([a-z]+\.)?gcr\.io)/")
"""The services whose images serve models, as the API's description of `imageUri` has it."""
NETWORK = re.compile(r"projects/[0-9]+/global/networks/[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_MOUNT = re.compile(r"[^/\s.][^/\s]*(/[^/\s.][^/\s]*)*")
_CONTEXT = re.compile(r"projects/[^/]+/locations/[^/]+/metadataStores/[^/]+/contexts/[a-z0-9][a-z0-9-]{0,127}")


def _name(subject: Subject) -> Iterator[str]:
    name = str(subject.body.get("displayName", ""))
    if not 1 <= len(name) <= LONGEST_NAME:
        yield f"the display name has {len(name)} characters; give 1 to {LONGEST_NAME}"


def _labels(subject: Subject) -> Iterator[str]:
    labels = mapping(subject.body.get("labels"))
    if len(labels) > MOST_LABELS:
        yield f"{len(labels)} labels: at most {MOST_LABELS}"
    for key, value in labels.items():
        yield from label_problems(key, str(value))


def label_problems(key: str, value: str) -> Iterator[str]:
    if not LABEL_KEY.fullmatch(key) or key != key.lower():
        yield f"label {key!r}: a key must have at most 64 lowercase letters, digits, _ and -, a letter first"
    if not LABEL_VALUE.fullmatch(value) or value != value.lower():
        yield f"label {key}={value!r}: a value must have at most 64 lowercase letters, digits, _ and -"


def _network(subject: Subject) -> Iterator[str]:
    network = subject.spec.get("network")
    if network and not NETWORK.fullmatch(str(network)):
        yield f"network {network!r} must be projects/PROJECT_NUMBER/global/networks/NAME, with the project's number"


@each_worker
def _nfs(worker: Worker) -> Iterator[str]:
    points = []
    for mount in map(mapping, worker.body.get("nfsMounts") or ()):
        server, path, point = (str(mount.get(key, "")) for key in ("server", "path", "mountPoint"))
        if not _is_address(server):
            yield f"NFS server {server!r} must be an IP address in the job's network, as in 10.0.0.2"
        if not path.startswith("/"):
            yield f"NFS path {path!r} must begin with /"
        if not _MOUNT.fullmatch(point):
            yield f"NFS mount point {point!r} must name a folder under /mnt/nfs/, as in data"
        points.append(point)
    for point in twice(points):
        yield f"two NFS mounts at {point}"


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _nfs_network(subject: Subject) -> Iterator[str]:
    reached = subject.spec.get("network") or subject.spec.get("pscInterfaceConfig")
    if not reached and any(worker.body.get("nfsMounts") for worker in subject.workers):
        yield "an NFS mount needs a network that reaches the server: give the template's network"


def _board(subject: Subject) -> Iterator[str]:
    asked = [key for key in ("tensorboard", "experiment") if subject.spec.get(key)]
    if len(asked) > 1:
        yield "tensorboard and experiment exclude each other (an experiment brings its own TensorBoard): keep one"
    for key in asked:
        if not subject.spec.get("serviceAccount"):
            yield f"{key} needs a serviceAccount that may write to it"
    yield from _in_region("tensorboard", subject.spec.get("tensorboard"), "tensorboards", subject)


def _in_region(what: str, name: object, collection: str, subject: Subject) -> Iterator[str]:
    """Yield what is wrong with the full name of a resource, which must be in the job's region."""
    match = re.fullmatch(rf"projects/[^/]+/locations/(?P<region>[^/]+)/{collection}/[^/@]+(@[^/]+)?", str(name))
    if name and match is None:
        yield f"{what} {name!r} must be projects/PROJECT/locations/REGION/{collection}/ID"
    elif match and subject.region and match["region"] != subject.region:
        yield f"{what} {name} is in {match['region']}, the job in {subject.region}: they must be the same"


def _experiment(subject: Subject) -> Iterator[str]:
    experiment, run = subject.spec.get("experiment"), subject.spec.get("experimentRun")
    if run and not experiment:
        yield "experimentRun needs an experiment"
    for key, value in (("experiment", experiment), ("experimentRun", run)):
        if value and not _CONTEXT.fullmatch(str(value)):
            yield (
                f"{key} {value!r} must be projects/…/locations/…/metadataStores/default/contexts/NAME, its name of "
                "lowercase letters, digits and -, at most 128"
            )
    if experiment and run and not str(run).startswith(f"{experiment}-"):
        yield f"experimentRun {run!r} must begin with the experiment's name and a dash"


def _output(subject: Subject) -> Iterator[str]:
    output = mapping(subject.spec.get("baseOutputDirectory")).get("outputUriPrefix")
    if output is not None and not str(output).startswith("gs://"):
        yield f"baseOutputDirectory {output!r} is not in Cloud Storage (gs://…)"


MODEL_ID = re.compile(r"[a-z_][a-z0-9_-]{0,62}")


def _task(subject: Subject) -> Iterator[str]:
    task = str(subject.body.get("trainingTaskDefinition", ""))
    if not re.fullmatch(r"gs://.+/custom_task_\S+\.yaml", task):
        yield f"trainingTaskDefinition {task!r} must be {CUSTOM_TASK}"


def _model(subject: Subject) -> Iterator[str]:
    if subject.body.get("modelToUpload") is not None:
        model = mapping(subject.body["modelToUpload"])
        if not model.get("artifactUri") and not subject.spec.get("baseOutputDirectory"):
            yield "modelToUpload: without baseOutputDirectory or artifactUri nobody knows where the model is"
        server, name = mapping(model.get("containerSpec")), str(model.get("displayName") or "")
        if not server.get("imageUri"):
            yield "modelToUpload: containerSpec.imageUri, the image that serves the model, is missing"
        elif not IMAGE.fullmatch(image := str(server["imageUri"])):
            yield f"modelToUpload: image {image!r} is not an image's name: HOST/PATH:TAG, without https://"
        elif not _REGISTRY.match(image):
            yield f"modelToUpload: image {image!r} is in neither Artifact Registry nor Container Registry"
        for port in map(mapping, server.get("ports") or ()):
            if not 1 <= as_int(port.get("containerPort")) <= LARGEST_PORT:
                yield f"modelToUpload: port {port.get('containerPort')}: give 1 to {LARGEST_PORT}"
        if not 1 <= len(name) <= LONGEST_NAME:
            yield f"modelToUpload: the display name has {len(name)} characters; give 1 to {LONGEST_NAME}"
    model_id = subject.body.get("modelId")
    if model_id and not MODEL_ID.fullmatch(str(model_id)):
        yield f"modelId {model_id!r}: give at most 63 of a-z, 0-9, _ and -, the first one a letter or _"
    if model_id and subject.body.get("parentModel"):
        yield "modelId names a new model, parentModel one that gets a new version: keep one"
    yield from _in_region("parentModel", subject.body.get("parentModel"), "models", subject)


RULES = (
    Rule("display-name", "A display name has 1 to 128 characters.", "1.1", _name),
    Rule("labels", "Labels are lowercase letters, digits, _ and -, at most 64 of each.", "1.1", _labels),
    Rule("network", "A network is named with the project's number.", "1.2", _network),
    Rule("nfs-mount", "An NFS mount has an IP address, a path from /, and a folder under /mnt/nfs/.", "3.2", _nfs),
    Rule("nfs-network", "An NFS mount needs a network.", "3.2", _nfs_network),
    Rule("tensorboard", "One of TensorBoard (in the job's region) and experiment, and an account.", "3.1", _board),
    Rule("experiment-name", "Experiment and run are contexts of a metadata store.", "3.1", _experiment),
    Rule("output", "The output directory is in Cloud Storage.", "3.5", _output),
    Rule("pipeline-task", "A training pipeline has the custom task.", "5.2", _task, kind=PIPELINE.name),
    Rule("model", "A model has a name, a place and an image that serves it; an id, or a parent nearby.", "5.2", _model),
)
