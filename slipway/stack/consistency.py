"""What types can't say about a stack: what must fit together, and names that are made from others."""

from __future__ import annotations

import re
from collections.abc import Mapping

from slipway.catalog.lookup import default_buckets
from slipway.cluster import PROTECT
from slipway.formatting import nearest, quoted
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.machines.table import Machine, MachineError, machine, region_has, regions, regions_with
from slipway.rules.reservations import reserved_only, zone
from slipway.season import moment
from slipway.stack.bounds import BUCKET_NAME, DISK_TYPES, LARGEST_POOL, NAME, PROJECT
from slipway.stack.cluster_checks import check_adoption, check_alternatives
from slipway.stack.config import OWN_KEYS
from slipway.stack.secrets import shown
from slipway.stack.trainers import check_trainers
from slipway.stack.yaml_file import Document, DocumentPart, FileFinding

LONGEST_STACK = 63
# Provider settings that would take effect behind Slipway's back.
_REFUSED: Mapping[str, tuple[str, str]] = {
    "gcp:defaultLabels": (
        "labels of the provider reach every cluster, and a change of them replaces it",
        "leave it out; give clusters their own `labels`",
    ),
}
_KEY = re.compile(r"projects/[^/]+/locations/([^/]+)/keyRings/[^/]+/cryptoKeys/[^/]+")
_LABEL = re.compile(r"[\w-]{0,64}")
_RESERVED = frozenset({STACK_LABEL, NAME_LABEL, HASH_LABEL})


def check_rules(document: Document, stack: str) -> tuple[FileFinding, ...]:
    """Everything that is wrong among the well-formed parts of a document."""
    root = DocumentPart(document)
    config = root["config"]
    _stack_name(root, stack)
    _keys(config)
    region = config["gcp:region"].of(str)
    for _, cluster in config["slipway:persistentResources"].items():
        _cluster(cluster, region if region in regions() else None)
    check_adoption(config["slipway:persistentResources"])
    for _, reservation in config["slipway:reservations"].items():
        _reservation(reservation, region if region in regions() else None)
    _quota(config["slipway:quota"])
    _no_repeats(config["slipway:templates"])
    _no_repeats(config["slipway:workspace"]["submitters"])
    project = config["gcp:project"].of(str) or ""
    _workspace(config["slipway:workspace"], project if re.fullmatch(PROJECT, project) else "", stack)
    check_trainers(config, stack)
    for _, trainer in config["slipway:trainers"].items():
        _no_repeats(trainer["submitters"])
    return tuple(root.findings)


def _stack_name(root: DocumentPart, stack: str) -> None:
    if not re.fullmatch(NAME, stack) or len(stack) > LONGEST_STACK:
        root.wrong(
            f"the stack is named {quoted(stack)}, which can't be in a label or an id",
            "name it with lowercase letters, digits and dashes: Pulumi.<stack>.yaml",
        )


def _keys(config: DocumentPart) -> None:
    for key, part in config.items():
        if key.startswith("slipway:") and key not in OWN_KEYS:
            near = nearest(key, OWN_KEYS)
            own = ", ".join(item for item in OWN_KEYS if item.startswith("slipway:"))
            part.wrong("unknown key", f"did you mean `{near}`?" if near else f"one of {own}")
        elif key.startswith("gcp:") and key.lower().endswith("customendpoint"):
            part.wrong(
                "endpoints come from the environment, so that provider, program and CLI agree",
                f"leave it out and export {_variable(key)}",
            )
        elif key in _REFUSED:
            part.wrong(*_REFUSED[key])
        elif key.startswith("gcp:") and key not in OWN_KEYS and nearest(key, OWN_KEYS) in OWN_KEYS[:3]:
            near = nearest(key, OWN_KEYS)
            if near is not None and config[near].value is None:
                part.wrong("unknown key", f"did you mean `{near}`?")


def _variable(key: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.removeprefix("gcp:"))
    return f"GOOGLE_{words.upper()}"


def _no_repeats(names: DocumentPart) -> None:
    seen: set[str] = set()
    for part in names.entries():
        name = part.of(str)
        if name is not None and name in seen:
            part.wrong(f"{name} is listed twice", "keep one of them")
        elif name is not None:
            seen.add(name)


def _workspace(workspace: DocumentPart, project: str, stack: str) -> None:
    """Of the names that are made here, whether they can be; of given ones, the types speak."""
    names = [workspace[key].of(str) for key in ("catalogBucket", "workBucket")]
    named = re.fullmatch(NAME, stack)
    for key, given, usual in zip(("catalogBucket", "workBucket"), names, default_buckets(project, stack), strict=True):
        if given is None and project and named and (said := BUCKET_NAME.wrong(usual)):
            workspace[key].wrong(*said)
    if names[0] is not None and names[0] == names[1]:
        workspace["workBucket"].wrong("is the catalog's bucket as well", "two buckets: no job may rewrite the catalog")


def _quota(quota: DocumentPart) -> None:
    if quota["mode"].value == "request" and not quota["contactEmail"].value:
        quota["mode"].wrong("'request' needs a contact", "add `contactEmail`: whom Google asks about an increase")


def _cluster(cluster: DocumentPart, region: str | None) -> None:
    """`region` is None when it is not known to be one: then what depends on it is not judged."""
    pools = cluster["pools"]
    if pools.value == {}:
        pools.wrong("has no pool", "at least one: workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}")
    for _, pool in pools.items():
        _pool(pool, region)
    check_alternatives(cluster, region, _pool, _machine)
    _network(cluster)
    _encryption(cluster["encryption"]["kmsKey"], region)
    _labels(cluster["labels"])
    _season(cluster)


def _network(cluster: DocumentPart) -> None:
    network = cluster["network"]
    if network.value is not None and cluster["pscInterface"].value is not None:
        cluster["pscInterface"].wrong("can't be combined with `network`", "one of the two: peering, or a PSC interface")
    if cluster["reservedIpRanges"].value and network.value is None:
        cluster["reservedIpRanges"].wrong("has no network to be in", "add `network`")


def _encryption(key: DocumentPart, region: str | None) -> None:
    if key.of(str) is None:
        return
    match = _KEY.fullmatch(key.value)
    if match is None:
        key.wrong(
            f"is not a key: {shown(key.value)}", f"projects/P/locations/{region or 'REGION'}/keyRings/R/cryptoKeys/K"
        )
    elif region is not None and match[1] != region:
        key.wrong(f"the key is in {match[1]}, the cluster in {region}", f"a key in {region}")


def _labels(labels: DocumentPart) -> None:
    for name, label in labels.items():
        if name in _RESERVED or name.startswith("goog-"):
            label.wrong("is a label that Slipway or Google sets", "another name")
        elif not name or not _LABEL.fullmatch(name) or name != name.lower():
            label.wrong("can't be a label's name", "1–64 lowercase letters, digits, _ and -")
        value = label.of(str)
        if value is not None and (not _LABEL.fullmatch(value) or value != value.lower()):
            label.wrong(f"can't be {shown(value)}", "up to 64 lowercase letters, digits, _ and -")


def _season(cluster: DocumentPart) -> None:
    begins, ends = (cluster[key].of(str) for key in ("from", "until"))
    try:
        late = begins is not None and ends is not None and moment(begins) >= moment(ends)
    except ValueError:
        return  # The type check speaks about it.
    for key in ("until", "idleLimit"):
        if cluster["replacement"].value == PROTECT and cluster[key].value is not None:
            cluster[key].wrong("would end a cluster that `replacement: protect` keeps", "one of the two")
    if late:
        cluster["until"].wrong(f"{ends} is not after `from`, {begins}", "a later date; it is the first day without it")


def _pool(pool: DocumentPart, region: str | None) -> None:
    shape = _machine(pool)
    if shape is not None and reserved_only(shape.accelerator):
        pool["machine"].wrong(
            f"{shape.type} machines are given to reservations only, which no persistent resource takes",
            "another machine; a template gets these by the capacity type `reservation`",
        )
    if shape is not None and shape.accelerator is not None and region is not None:
        _accelerator(pool, shape, region)
    _disk(pool["disk"], shape)
    _replicas(pool["replicas"])


def _machine(pool: DocumentPart) -> Machine | None:
    """The machine of an entry with `machine` and `accelerator`, if it is one."""
    type_ = pool["machine"].of(str)
    if type_ is None:
        return None
    accelerator = pool["accelerator"]
    asked, count = accelerator["type"].of(str), accelerator["count"].of(int)
    if accelerator.value is not None and asked is None:
        asked = count = None  # The type check speaks about it.
    try:
        return machine(type_, asked, count)
    except MachineError as error:
        missing_count = error.field == "accelerator" and accelerator["count"].value is None
        if not missing_count:
            part = pool["machine"] if error.field == "machine" else accelerator
            part = part[error.field] if error.field in ("type", "count") else part
            part.wrong(error.what, error.fix)
    return None


def _accelerator(pool: DocumentPart, shape: Machine, region: str) -> None:
    accelerator = str(shape.accelerator)
    if region_has(region, accelerator):
        return
    part = pool["accelerator"]["type"] if pool["accelerator"].value is not None else pool["machine"]
    elsewhere = regions_with(accelerator)
    part.wrong(
        f"{region} has no {accelerator} for training ({shape.type})",
        f"regions that have it: {', '.join(elsewhere)}" if elsewhere else "another accelerator",
    )


def _disk(disk: DocumentPart, shape: Machine | None) -> None:
    type_ = disk["type"].of(str)
    if type_ in DISK_TYPES and shape is not None and type_ not in shape.disks:
        disk["type"].wrong(f"{shape.type} can't have {type_}", " or ".join(shape.disks))


def _replicas(replicas: DocumentPart) -> None:
    low, high, initial = (replicas[key].of(int) for key in ("min", "max", "initial"))
    if low is not None and low >= 1 and high is not None and high <= low:
        replicas["max"].wrong(
            f"max {high} is not more than min {low}",
            f"{f'max: {low + 1} or more, or ' if low < LARGEST_POOL else ''}`replicas: {low}` for a fixed pool",
        )
    if initial is not None and low is not None and high is not None and not low <= initial <= high and high > low:
        replicas["initial"].wrong(f"{initial} is not between min {low} and max {high}", f"{low} to {high}")


def _reservation(reservation: DocumentPart, region: str | None) -> None:
    found = zone(reservation["path"].of(str) or "")
    if region is not None and found is not None and not found.startswith(f"{region}-"):
        reservation["path"].wrong(
            f"{found} is not in the stack's region {region}, so no job can use it", f"a reservation in {region}-…"
        )
    _machine(reservation)
