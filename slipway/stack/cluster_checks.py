"""Mistakes of a cluster's entry as a whole: keys beside the `id` of one that is adopted, ids that are there twice, and
alternatives."""

from __future__ import annotations

from collections.abc import Callable

from slipway.formatting import join, nearest, quoted
from slipway.machines.table import Machine, region_has, regions, regions_with
from slipway.stack.secrets import shown
from slipway.stack.yaml_file import DocumentPart

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
        for key in OF_THE_MAKING:
            _refuse(cluster[key])
        for _, pool in cluster["pools"].items():
            _refuse(pool["replicas"]["initial"])
        if id_ in names:
            cluster["id"].wrong(f"{id_} is adopted as {names[id_]} already", "one name for it: take one entry out")
        elif id_ is not None:
            names[id_] = name


def _refuse(part: DocumentPart) -> None:
    if part.value is not None:
        part.wrong(
            "is for a cluster that Slipway makes, and this one is adopted by its `id`",
            "leave it out: nothing changes an adopted cluster; or leave `id` out to have one made",
        )


CheckPool = Callable[[DocumentPart, str | None], None]


def check_alternatives(
    cluster: DocumentPart, home: str | None, check_pool: CheckPool, machine_of: Callable[[DocumentPart], Machine | None]
) -> None:
    """`check_pool` finds what is wrong with one pool by itself, in a region. `home` is the stack's, None where that is
    not known to be one."""
    own = cluster["pools"].of(dict) or {}
    seen = [(own, home)]
    for alternative in cluster["alternatives"].entries():
        pools, named = alternative["pools"], alternative["region"].of(str)
        given = pools.of(dict) or {}
        region = (named if named in regions() else None) if named else home
        for name, pool in pools.items():
            check_pool(pool, region)
            if own and name not in own:
                near = nearest(name, tuple(own))
                known = f"did you mean `{near}`?" if near else f"one of {join(sorted(own), 'or')}"
                pool.wrong(f"the cluster has no pool {quoted(name)} that this could stand for", known)
        if named:
            others = {name: pool for name, pool in cluster["pools"].items() if name not in given}
            _check_region(cluster, alternative["region"], home, {name: machine_of(one) for name, one in others.items()})
        elif (
            alternative["region"].value in (None, "") and pools.value in (None, {}) and alternative.of(dict) is not None
        ):
            example = "{workers: {machine: a2-highgpu-8g, replicas: {min: 1, max: 4}}}"
            pools.wrong("is missing", f"add `pools: {example}`, another `region`, or both")
        whole = ({**own, **given}, named or home)
        if given and whole in seen:
            earlier = "`pools` above" if whole == seen[0] else "an alternative above"
            pools.wrong(f"asks for the same as {earlier}", "other machines, another disk or number; or take it out")
        elif named and named != home and whole in seen:
            alternative["region"].wrong("asks for the same as an alternative above", "another region, or take it out")
        seen.append(whole)


def _check_region(
    cluster: DocumentPart, region: DocumentPart, home: str | None, machines: dict[str, Machine | None]
) -> None:
    """`machines`: those of the pools that are as in the cluster's own, by their names."""
    named = str(region.value)
    if named not in regions():
        near = nearest(named, regions())
        known = f"did you mean `{near}`?" if near else "one that has custom training: us-central1, europe-west4 …"
        region.wrong(f"is not a region with custom training: {shown(named)}", known)
        return
    if named == home:
        region.wrong("is the stack's own region, where the cluster is made first", "leave it out, or name another")
        return
    for name, machine in machines.items():
        if machine and machine.accelerator and not region_has(named, machine.accelerator):
            have = join(regions_with(machine.accelerator))
            region.wrong(
                f"{named} has no {machine.accelerator} for training, and pool {quoted(name)} asks for it",
                f"other machines for it, under `pools` beside this; regions that have it: {have}",
            )
    for key, part in (
        ("encryption.kmsKey", cluster["encryption"]["kmsKey"]),
        ("pscInterface.networkAttachment", cluster["pscInterface"]["networkAttachment"]),
    ):
        if part.value is not None:
            region.wrong(
                f"can't be another one than the stack's: the cluster's `{key}` is in {home or 'that'} alone",
                "leave this alternative out; other machines in the stack's region may be one",
            )
