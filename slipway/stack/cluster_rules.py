"""Rules of one cluster: names, network, encryption, labels, and its pools."""

from __future__ import annotations

import re

from slipway.fingerprint import LONGEST_NAME
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.stack.part import DocumentPart
from slipway.stack.pool_rules import check_pool
from slipway.stack.secrets import shown

LONGEST_POOL = 63
LONGEST_DISPLAY_NAME = 128
NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_NETWORK = re.compile(r"projects/[0-9]+/global/networks/[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_KEY = re.compile(r"projects/[^/]+/locations/([^/]+)/keyRings/[^/]+/cryptoKeys/[^/]+")
_LABEL = re.compile(r"[\w-]{0,64}")
_DURATION = re.compile(r"[1-9][0-9]{0,3}[hdw]")
_RESERVED = frozenset({STACK_LABEL, NAME_LABEL, HASH_LABEL})


def check_cluster(name: str, cluster: DocumentPart, region: str | None) -> None:
    """`region` is None when it is not known to be one: then what depends on it is not judged."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        fix = f"1–{LONGEST_NAME} lowercase letters, digits and dashes, a letter first: its id adds a hash and has 63"
        cluster.wrong(f"{name!r} can't be a cluster's name", fix)
    pools = cluster["pools"]
    if pools.value == {}:
        pools.wrong("has no pool", "at least one: workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}")
    for pool_name, pool in pools.items():
        if not NAME.fullmatch(pool_name) or len(pool_name) > LONGEST_POOL:
            fix = f"1–{LONGEST_POOL} lowercase letters, digits and dashes, a letter first"
            pool.wrong(f"{pool_name!r} can't be a pool's name", fix)
        check_pool(pool, region)
    _network(cluster)
    _encryption(cluster["encryption"]["kmsKey"], region)
    _labels(cluster["labels"])
    _rest(cluster)


def _network(cluster: DocumentPart) -> None:
    network = cluster["network"]
    if network.of(str) is not None and not _NETWORK.fullmatch(network.value):
        fix = "projects/NUMBER/global/networks/NAME, with the project's number, not its id"
        network.wrong(f"is not a network: {shown(network.value)}", fix)
    if network.value is not None and cluster["pscInterface"].value is not None:
        cluster["pscInterface"].wrong("can't be combined with `network`", "one of the two: peering, or a PSC interface")
    if cluster["reservedIpRanges"].value and network.value is None:
        cluster["reservedIpRanges"].wrong("has no network to be in", "add `network`")
    for peering in cluster["pscInterface"]["dnsPeeringConfigs"].entries():
        domain = peering["domain"]
        if domain.of(str) is not None and not domain.value.endswith("."):
            domain.wrong(f"{domain.value!r} does not end with a dot", f"{domain.value}.")


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


def _rest(cluster: DocumentPart) -> None:
    generation = cluster["generation"]
    if generation.of(int) is not None and generation.value < 1:
        generation.wrong(f"is {generation.value}", "1 or more")
    within = cluster["retireWithin"]
    if within.of(str) is not None and not _DURATION.fullmatch(within.value):
        within.wrong(f"is not a valid time: {shown(within.value)}", "up to 9999 hours, days or weeks: 12h, 7d, 2w")
    title = cluster["displayName"]
    if title.of(str) is not None and not 1 <= len(title.value) <= LONGEST_DISPLAY_NAME:
        title.wrong(f"has {len(title.value)} characters", f"1–{LONGEST_DISPLAY_NAME}")
