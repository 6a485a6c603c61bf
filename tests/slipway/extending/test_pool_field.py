"""A field of a pool is its row, its key and the form of the service."""

from functools import partial
from pathlib import Path

from .conftest import Edit, told

STACK_FILE = """config:
  gcp:project: acme-ml
  gcp:addPulumiAttributionLabel: "false"
  gcp:region: us-central1
  slipway:persistentResources:
    h100:
      pools:
        workers: {machine: a3-highgpu-8g, replicas: 1MORE}
"""


def put_before(place: str, row: str, text: str) -> str:
    return text.replace(place, f"{row}{place}", 1)


# By file: what is put before the first place that begins so.
WITH_PARTITION = {
    "cluster_fields.py": {
        '    Field("replicas", size': '    Field("gpuPartition", lambda pool: pool.machine.partition or ""),\n',
    },
    "machines/spec.py": {
        "\n    def __post_init__": "    partition: str | None = None\n",
        "            disk=Disk(str(": '            partition=machine.get("gpuPartitionSize"),\n',
        "        return {\n": '        machine |= {"gpuPartitionSize": self.partition} if self.partition else {}\n',
    },
    "stack/entries.py": {"    replicas: Replicas": "    gpu_partition: str | None = None\n"},
    "stack/stack.py": {"),\n        min=low": ", entry.gpu_partition"},
}


def test_a_field_of_a_pool_is_its_row_for_all_who_compare(tmp_path: Path, edited: Edit) -> None:
    """Beside it, the key and the service's form: four files of the product."""
    for file, rows in WITH_PARTITION.items():
        for place, row in rows.items():
            edited(file, partial(put_before, place, row))
    (tmp_path / "stack.yaml").write_text(STACK_FILE)
    found = told(
        tmp_path,
        """
import json
from dataclasses import replace
from pathlib import Path
from slipway import codec
from slipway.catalog import model
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import Adoption, CurrentCluster
from slipway.doctor.drift import of_clusters
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.generations.adoption import differences
from slipway.generations.generations import unlike
from slipway.generations.published_clusters import departures, published
from slipway.review.clusters.options import alike
from slipway.review.clusters.succession import edits
from slipway.stack.stack import parse
from slipway.stack.yaml_file import from_text

def current(more):
    (spec,) = parse(from_text(Path("stack.yaml").read_text().replace("MORE", more), "stack.yaml")).clusters
    digest = fingerprint_of("prod", "acme-ml", "us-central1", spec)
    return CurrentCluster(spec, cluster_id("h100", digest), digest, import_=True)

def lives(one, id):
    return PersistentResource.read({"name": id, "state": "RUNNING", **one.request("prod")})

plain, split = current(""), current(", gpuPartition: 1g.10gb")
otherwise = lives(replace(split, spec=plain.spec), split.id)
old, new = (published(one, "us-central1") for one in (plain, split))
whole = model.Catalog("prod", "acme-ml", "us-central1", "", False, "w", "t", {"h100": new}, (), {})
read = codec.read(model.Catalog, json.loads(json.dumps(codec.write(whole))))
print(json.dumps({
    "ids": [plain.id, split.id],
    "review": [str(one) for one in edits(old, new)],
    "engine": [one.key for one in departures(new, otherwise.spec, "prod")],
    "drift": [[one.field, one.sentence] for one in of_clusters(read, (otherwise,))],
    "adoption": list(differences(replace(plain.spec, adopted=Adoption("team-a")), lives(split, "team-a"))),
    "by hand": unlike(split, otherwise),
    "alternatives": [alike(((one.pools, ""),), ((new.pools, ""),)) for one in (old, read.clusters["h100"])],
}))
""",
    )
    key = "pools.workers.gpuPartition"
    plain, split = found["ids"]
    assert plain != split
    assert found["review"] == [f"`{key}` none → `1g.10gb`"]
    assert found["engine"] == [key]
    assert found["drift"] == [[key, f"{key} is none, and was deployed with 1g.10gb"]]
    (adoption,) = found["adoption"]
    assert f"h100.{key}: the file says none, and team-a has 1g.10gb; write `gpuPartition: 1g.10gb`" in adoption
    assert f"it has none as {key}, and the stack file asks for 1g.10gb" in found["by hand"]
    assert found["alternatives"] == [False, True]
