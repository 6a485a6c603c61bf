"""A field of a pool is its row, its key, the form of the service and the stand-in's: six files with schema and docs."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from .conftest import ROOT, Edit, told

POOL, WRITTEN = "{machine: a2-highgpu-1g, replicas: 1MORE}", ", gpuPartition: 3g.20gb"
STACK_FILE = f"""config:
  gcp:project: acme-ml
  gcp:addPulumiAttributionLabel: "false"
  gcp:region: us-central1
  slipway:persistentResources:
    h100:
      pools:
        workers: {POOL}
"""


def put_before(place: str, row: str, text: str) -> str:
    return text.replace(place, f"{row}{place}", 1)


ROWS: Mapping[str, Mapping[str, str]] = {
    "slipway/model/cluster_fields.py": {
        '    Field("replicas", size': '    Field("gpuPartition", lambda pool: pool.machine.gpu_partition or ""),\n',
    },
    "slipway/model/machines/spec.py": {
        "\n    def __post_init__": "    gpu_partition: str | None = None\n",
        "            disk=Disk.read(": '            gpu_partition=machine.get("gpuPartitionSize"),\n',
        '        return {"machineSpec"': "        if self.gpu_partition:\n"
        '            machine["gpuPartitionSize"] = self.gpu_partition\n',
    },
    "slipway/authoring/stack/entries.py": {
        "    replicas: Replicas": '    gpu_partition: str | None = Field(default=None, description="A size.")\n'
    },
    "local/plugin/resources/persistent_resource.py": {
        '            "acceleratorType": text': '            "gpuPartitionSize": text(replace=True),\n',
    },
    "docs/scarce-machines.md": {
        "### Other machines or regions": f"A pool of it: `{POOL.replace('MORE', WRITTEN)}`.\n\n"
    },
}
"""By file, what is put before the first place that begins so; the schema is written by `slipway check --schema`."""
SCHEMA = "stacks/schema.json"
MOST = 6


def test_a_field_of_a_pool_is_its_row_for_all_who_compare(tmp_path: Path, edited: Edit) -> None:
    """Beside it, the key and the service's form: three files of the product. The local cloud keeps the field."""
    assert len({*ROWS, SCHEMA}) <= MOST
    for file, rows in ROWS.items():
        for place, row in rows.items():
            edited(file, partial(put_before, place, row))
    (tmp_path / "stack.yaml").write_text(STACK_FILE)
    outcome = told(
        tmp_path,
        """
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from vertex_local.vertex.clusters import rules
from vertex_local.vertex.clusters.records import pool_of
from vertex_local.vertex.jobs.rules import defaulted
from local.plugin.comparing import changed
from local.plugin.resources.persistent_resource import PersistentResource as Provided
from local.plugin.wire import from_api, to_api
from slipway.base import codec
from slipway.model.catalog import model
from slipway.google.clusters import PersistentResource
from slipway.model.cluster import Adoption, Alternative, CurrentCluster
from slipway.operating.doctor.drift import of_clusters
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.deploying.generations.adoption import differences
from slipway.deploying.generations.generations import unlike
from slipway.deploying.generations.published_clusters import departures, published
from slipway.model.machines.spec import compared
from slipway.answers.comparison import Comparison, World
from slipway.answers.settings import settings
from slipway.model.facts import Facts
from slipway.google.live import Live
from slipway.model.rules.rule import Worker
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.structure import schema_text
from slipway.authoring.stack.yaml_file import from_text

def current(more):
    (spec,) = parse(from_text(Path("stack.yaml").read_text().replace("MORE", more), "stack.yaml")).clusters
    digest = fingerprint_of("prod", "acme-ml", "us-central1", spec)
    return CurrentCluster(spec, cluster_id("h100", digest), digest, import_=True)

def worker_pools(pools):
    return defaulted({"displayName": "x", "jobSpec": {"workerPoolSpecs": pools}})["jobSpec"]["workerPoolSpecs"]

def changed_settings(old, new):
    world = World(Live(clusters=(), jobs=(), limits={}, catalog=None), datetime(2026, 1, 1, tzinfo=UTC))
    sides = [Facts(replace(whole, clusters={"h100": cluster})) for cluster in (old, new)]
    return [[row.key, row.before, row.after] for row in settings(Comparison.between("prod", *sides, world))]

def lives(one, id):
    return PersistentResource.read({"name": id, "state": "RUNNING", **one.request("prod")})

plain, split = current(""), current("WRITTEN")
machines = [one.spec.pools[0].machine for one in (plain, split)]
assert Worker(0, split.request("prod")["resourcePools"][0]).machine == machines[1]
asked, less = ({"resourcePools": one.request("prod")["resourcePools"]} for one in (split, plain))
fields = Provided.schema.fields
otherwise = lives(replace(split, spec=plain.spec), split.id)
old, new = (published(one, "us-central1") for one in (plain, split))
whole = model.Catalog("prod", "acme-ml", "us-central1", "", False, "w", "t", {"h100": new}, (), {})
read = codec.read(model.Catalog, json.loads(json.dumps(codec.write(whole))))
print(json.dumps({
    "schema": json.loads(schema_text()),
    "ids": [plain.id, split.id],
    "cloud": [one.message for one in rules.mistakes(split.request("prod"), "us-central1")],
    "kept": rules.defaulted(asked, "h100")["resourcePools"] == asked["resourcePools"],
    "job": worker_pools(asked["resourcePools"]) == asked["resourcePools"],
    "shapes": len({pool_of(one["resourcePools"][0]).shape for one in (asked, less)}),
    "provider": [to_api(fields, asked) == asked, from_api(fields, asked) == asked],
    "changed": sorted(changed(Provided.schema, less, asked)),
    "review": changed_settings(old, new),
    "engine": [one.key for one in departures(new, otherwise.spec, "prod")],
    "drift": [[one.field, one.sentence] for one in of_clusters(read, (otherwise,))],
    "adoption": list(differences(replace(plain.spec, adopted=Adoption("team-a")), lives(split, "team-a"))),
    "matched": [key for key, ours, theirs in compared(*machines) if ours != theirs],
    "by hand": unlike(split, otherwise),
    "alternatives": changed_settings(*(replace(old, alternatives=(Alternative(one.pools),)) for one in (old, new))),
    "same": changed_settings(read.clusters["h100"], new),
}))
""".replace("WRITTEN", WRITTEN),
    )
    key, value = "pools.workers.gpuPartition", "3g.20gb"
    plain, split = outcome["ids"]
    assert plain != split
    assert outcome["cloud"] == []
    assert outcome["kept"] and outcome["job"] and outcome["shapes"] == 2
    assert outcome["provider"] == [True, True]
    assert outcome["changed"] == ["resourcePools"]
    assert outcome["review"] == [[key, "", value]]
    assert outcome["engine"] == [key]
    ((field, sentence),) = outcome["drift"]
    assert field == key and sentence.startswith(f"{key} is none") and sentence.endswith(f" {value}")
    (adoption,) = outcome["adoption"]
    assert f"h100.{key}: " in adoption and f"team-a has {value}; write `gpuPartition: {value}`" in adoption
    assert f"it has none as {key}, " in outcome["by hand"] and f"asks for {value}" in outcome["by hand"]
    ((changed, *_),) = outcome["alternatives"]
    assert changed.startswith("alternatives") and outcome["same"] == []
    assert outcome["matched"] == ["gpuPartitionSize"]
    schema = outcome["schema"]
    assert schema["$defs"]["PoolEntry"]["properties"].pop("gpuPartition")["description"] == "A size."
    assert schema == json.loads((ROOT / SCHEMA).read_text("utf-8"))
