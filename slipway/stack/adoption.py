"""What is wrong with entries that adopt a cluster by its id: keys that say how one is made, and an id that is there
twice."""

from __future__ import annotations

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
