"""Mistakes of a cluster's entry as a whole: fields that must fit together, its alternatives, and adoption by `id`."""

from __future__ import annotations

import re
from contextlib import suppress

from slipway.authoring.stack.bounds import DISK_TYPES, LARGEST_POOL, NAME
from slipway.authoring.stack.secrets import shown
from slipway.authoring.stack.yaml_file import DocumentPart
from slipway.base.formatting import join, meant, quoted
from slipway.model.cluster import PROTECT
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.machines.table import Machine, MachineError, lacks, machine, regions, unknown_accelerator
from slipway.model.rules.job import LABEL_KEY, LABEL_VALUE, MOST_LABELS
from slipway.model.rules.reservations import reserved_only
from slipway.model.season import moment, moment_in_words

OF_THE_MAKING = (
    "displayName",
    "labels",
    "replacement",
    "generation",
    "retireWithin",
    "createWithin",
    "alternatives",
    "from",
    "until",
    "idleLimit",
)
_KEY = re.compile(
    r"projects/[a-z0-9][a-z0-9.:-]*/locations/(?P<region>[\w-]+)/keyRings/[\w-]{1,63}/cryptoKeys/[\w-]{1,63}", re.ASCII
)
_ATTACHMENT = re.compile(rf"(projects/[^/]+/regions/(?P<region>[^/]+)/networkAttachments/)?{NAME}")
_RESERVED = frozenset({STACK_LABEL, NAME_LABEL, HASH_LABEL})


def check_cluster(cluster: DocumentPart, region: str | None) -> None:
    """Check a cluster's entry. Where `region` is None, as it is not valid, what depends on it is not checked."""
    pools = cluster["pools"]
    if pools.value == {}:
        pools.wrong("has no pool", "at least one: workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}")
    for _, pool in pools.items():
        _pool(pool, region)
    _alternatives(cluster, region)
    if cluster["reservedIpRanges"].value and cluster["network"].value is None:
        cluster["reservedIpRanges"].wrong("has no network to be in", "add `network`")
    where = region or "REGION"
    key, attachment = cluster["encryption"]["kmsKey"], cluster["pscInterface"]["networkAttachment"]
    check_key(key, region)
    full = f"its name, or projects/P/regions/{where}/networkAttachments/NAME"
    _in_region(attachment, _ATTACHMENT, "network attachment", full, region)
    _labels(cluster["labels"])
    _season(cluster)


def check_key(part: DocumentPart, region: str | None, of: str = "cluster") -> None:
    example = f"projects/P/locations/{region or 'REGION'}/keyRings/R/cryptoKeys/K"
    _in_region(part, _KEY, "key", example, region, of)


def _in_region(
    part: DocumentPart, form: re.Pattern[str], what: str, example: str, region: str | None, of: str = "cluster"
) -> None:
    match = form.fullmatch(part.of(str) or "")
    if part.of(str) is not None and match is None:
        # What consoles and tools show has more around it, as a key's version.
        within = re.search(rf"{form.pattern}(?=/|\s*$)", part.of(str) or "", form.flags)
        part.wrong(f"is not a {what}: {shown(part.value)}", within[0] if within and within["region"] else example)
    elif match and match["region"] and region not in (None, match["region"]):
        part.wrong(f"the {what} is in {match['region']}, the {of} in {region}", f"name a {what} in {region}")


def _labels(labels: DocumentPart) -> None:
    count, most = len(labels.of(dict) or ()), MOST_LABELS - len(_RESERVED)
    if count > most:
        labels.wrong(f"has {count} labels", f"at most {most}, as Slipway sets {len(_RESERVED)} itself")
    for name, label in labels.items():
        if name in _RESERVED or name.startswith("goog-"):
            label.wrong("is a label that Slipway or Google sets", "another name")
        elif not LABEL_KEY.fullmatch(name) or name != name.lower():
            label.wrong("can't be a label's name", "1–64 lowercase letters, digits, _ and -, a letter first")
        value = label.of(str)
        if value is not None and (not LABEL_VALUE.fullmatch(value) or value != value.lower()):
            label.wrong(f"can't be {shown(value)}", "up to 64 lowercase letters, digits, _ and -")


def _season(cluster: DocumentPart) -> None:
    for key in ("until", "idleLimit"):
        if cluster["replacement"].value == PROTECT and cluster[key].value is not None:
            cluster[key].wrong("would end a cluster that `replacement: protect` keeps", "one of the two")
    check_dates(cluster)


def check_dates(entry: DocumentPart) -> None:
    """Check that an entry's `until` comes after its `from`."""
    begins, ends = (entry[key].of(str) for key in ("from", "until"))
    with suppress(ValueError):  # The type check reports it.
        if begins is not None and ends is not None and moment(begins) >= moment(ends):
            what = f"{moment_in_words(moment(ends))} is not after `from`, {moment_in_words(moment(begins))}"
            entry["until"].wrong(what, "a later date; it is the first day without it")


def _pool(pool: DocumentPart, region: str | None) -> None:
    shape = check_machine(pool)
    if shape is not None and reserved_only(shape.accelerator):
        pool["machine"].wrong(
            f"{shape.type} machines are given to reservations only, which no persistent resource takes",
            "another machine; a template gets these by the capacity type `reservation`",
        )
    if shape is not None and region is not None and (lacking := lacks(region, shape.accelerator)):
        part = pool["accelerator"]["type"] if pool["accelerator"].value is not None else pool["machine"]
        part.wrong(*lacking)
    _replicas(pool["replicas"])


def check_machine(part: DocumentPart) -> Machine | None:
    """Check a machine with its accelerator and disk, or a type alone. Return the machine, if it is valid."""
    shape, disk = machine_of(part), part["disk"]["type"].of(str)
    if disk in DISK_TYPES and shape is not None and disk not in shape.disks:
        part["disk"]["type"].wrong(f"{shape.type} can't have {disk}", " or ".join(shape.disks))
    return shape


def _replicas(replicas: DocumentPart) -> None:
    low, high, initial = (replicas[key].of(int) for key in ("min", "max", "initial"))
    if low is not None and low >= 1 and high is not None and high <= low:
        replicas["max"].wrong(
            f"max {high} is not more than min {low}",
            f"{f'max: {low + 1} or more, or ' if low < LARGEST_POOL else ''}`replicas: {low}` for a fixed pool",
        )
    if initial is not None and low is not None and high is not None and not low <= initial <= high and high > low:
        replicas["initial"].wrong(f"{initial} is not between min {low} and max {high}", f"{low} to {high}")


def machine_of(pool: DocumentPart) -> Machine | None:
    """Return the machine of an entry with `machine` and `accelerator`, or of a type alone, if it is valid."""
    typed = pool if pool.of(str) is not None else pool["machine"]
    type_ = typed.of(str)
    if type_ is None:
        return None
    accelerator = pool["accelerator"]
    asked = accelerator["type"].of(str)
    # A count alone is no second mistake: the type check reports that its type is missing or wrong.
    count = accelerator["count"].of(int) if asked is not None else None
    try:
        return machine(type_, asked, count)
    except MachineError as error:
        if error.field == "machine" and asked is not None and (unknown := unknown_accelerator(asked)):
            accelerator["type"].wrong(unknown.what, unknown.fix)
        missing_count = error.field == "accelerator" and accelerator["count"].value is None
        if not missing_count:
            part = typed if error.field == "machine" else accelerator
            part = part[error.field] if error.field in ("type", "count") else part
            keyed = DocumentPart(pool.document)["config"]["slipway:machines"][type_]
            if typed is part and keyed.path != pool.path and keyed.value is not None:
                of_key = keyed.of(str) or keyed["machine"].of(str) or "n1-standard-8"
                part.wrong(f"{quoted(type_)} is a key for templates alone", f"the machine type itself: {of_key}")
            else:
                part.wrong(error.what, error.fix)
    return None


def check_adoption(clusters: DocumentPart) -> None:
    names: dict[str, str] = {}
    for name, cluster in clusters.items():
        id_ = cluster["id"].of(str)
        if cluster["id"].value is None:
            if any(key == "id" for key, _ in cluster.items()):
                cluster["id"].wrong(
                    "is empty", "write the id of the cluster to adopt, or leave `id` out to have one made"
                )
            continue
        initial = (pool["replicas"]["initial"] for _, pool in cluster["pools"].items())
        for part in (*(cluster[key] for key in OF_THE_MAKING), *initial):
            if part.value is not None:
                part.wrong(
                    "is for a cluster that Slipway makes, and this one is adopted by its `id`",
                    "leave it out: nothing changes an adopted cluster; or leave `id` out to have one made",
                )
        if id_ in names:
            cluster["id"].wrong(f"{id_} is adopted as {names[id_]} already", "one name for it: leave one of both out")
        elif id_ is not None:
            names[id_] = name


def _alternatives(cluster: DocumentPart, home: str | None) -> None:
    """Check the alternatives. `home` is the stack's region, None where that is not valid."""
    own = cluster["pools"].of(dict) or {}
    seen = [(own, home)]
    for alternative in cluster["alternatives"].entries():
        pools, named = alternative["pools"], alternative["region"].of(str)
        given = pools.of(dict) or {}
        region = (named if named in regions() else None) if named else home
        for name, pool in pools.items():
            _pool(pool, region)
            if own and name not in own:
                fix = meant(name, own, f"one of {join(sorted(own), 'or')}")
                pool.wrong(f"the cluster has no pool {quoted(name)} that this could stand for", fix)
        if region and named:
            others = {name: pool for name, pool in cluster["pools"].items() if name not in given}
            _region(cluster, alternative["region"], home, {name: machine_of(pool) for name, pool in others.items()})
        elif alternative["region"].value is None and pools.value in (None, {}) and alternative.of(dict) is not None:
            example = "{workers: {machine: a2-highgpu-8g, replicas: {min: 1, max: 4}}}"
            pools.wrong("is missing", f"add `pools: {example}`, another `region`, or both")
        whole = ({**own, **given}, named or home)
        if whole in seen and (given or named not in (None, home)):
            earlier = "`pools` above" if whole == seen[0] else "an alternative above"
            part = pools if given else alternative["region"]
            part.wrong(
                f"asks for the same as {earlier}", "other machines, disks or numbers, or another region; or take it out"
            )
        seen.append(whole)


def _region(cluster: DocumentPart, region: DocumentPart, home: str | None, machines: dict[str, Machine | None]) -> None:
    """Check an alternative's region. `machines`: by pool, those that are the cluster's own, unchanged."""
    named = str(region.value)
    if named == home:
        region.wrong("is the stack's own region, where the cluster is made first", "leave it out, or name another")
        return
    for name, shape in machines.items():
        if shape and (lacking := lacks(named, shape.accelerator)):
            what, fix = lacking
            fix = f"other machines for it, under `pools` beside this; {fix}"
            region.wrong(f"{what}, and pool {quoted(name)} asks for it", fix)
    for key, part in (
        ("encryption.kmsKey", cluster["encryption"]["kmsKey"]),
        ("pscInterface.networkAttachment", cluster["pscInterface"]["networkAttachment"]),
    ):
        if part.value is not None:
            region.wrong(
                f"can't be another one than the stack's: the cluster's `{key}` is in {home or 'that'} alone",
                "leave this alternative out; other machines in the stack's region may be one",
            )
