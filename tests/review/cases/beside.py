"""Rules of packs, grades of a team, requests for quota, and needs of jobs that the engine rewrites or deletes."""

from dataclasses import replace

from slipway.deploying.engine.preview import Objection, Preview
from tests.review.case import BUSY, ENCRYPTED, LARGE, Case, Edit, World, h100, hurts, stack, stops, tells, template
from tests.review.cases.clusters import ANEW, H100
from tests.review.engine import (
    DATASET,
    OBJECT,
    ON_PROJECT,
    PROJECT,
    SQL,
    TRAINER,
    WORKSPACE,
    creates,
    deletes,
    does,
    edits,
    granted,
    replaces,
    updates,
)
from tests.slipway.reviewing.builders import step

NETWORK, KEY, VERSION = (
    "gcp:compute/network:Network",
    "gcp:kms/cryptoKey:CryptoKey",
    "gcp:secretmanager/secretVersion:SecretVersion",
)
TEAM, ADA = "group:ml@acme.example", "user:ada@acme.example"
NIGHTLY = "serviceAccount:nightly@acme-ml.iam.gserviceaccount.com"
LABELS = Objection("acme", "team-label", "artifacts", "buckets need the label `team`\n", mandatory=True)
NAMES = replace(LABELS, rule="names", mandatory=False)
GRADES = stack("    advisory:\n", "    grades: { submitter-gone: warning }\n    advisory:\n")
HARSH = stack("    advisory:\n", "    grades: { timeout-changed: blocking }\n    advisory:\n")
REQUEST = stack("mode: enforce", "mode: request")
ON_A_NETWORK = h100("network: projects/123/global/networks/train")


def added(member: str) -> Edit:
    return stack(f"      - {ADA}\n", f"      - {ADA}\n      - {member}\n")


CASES = (
    Case(
        "A bucket breaks a rule of the company's own pack, and another one is advice",
        names=(
            stops("policy-violated", "policy team-label acme", "`artifacts`: buckets need the label `team`"),
            hurts("policy-advice", "policy names acme"),
        ),
        preview=Preview(objections=(LABELS, NAMES)),
    ),
    Case(
        "Thirty buckets break the same rule of a pack: they are told once",
        names=(stops("policy-violated", "policy team-label acme", "30 resources"),),
        preview=Preview(objections=tuple(replace(LABELS, about=f"bucket-{n}") for n in range(30))),
        accident="buckets left unguarded by a tidy-up",
    ),
    Case(
        "A robot with a job running is shut out, and the same change says that this needs nobody's approval",
        (stack(f"      - {NIGHTLY}\n", ""), GRADES),
        (
            stops("policy-weaker", "submitter-gone", "where it was `blocking`", "needs an approval"),
            stops("submitter-gone", NIGHTLY),
        ),
        world=BUSY,
        accident="a rule switched off by what it forbade",
    ),
    Case(
        "A robot with a job running is shut out, where a deployed rule needs nobody's approval for it",
        (stack(f"      - {NIGHTLY}\n", ""),),
        (hurts("submitter-gone", NIGHTLY),),
        given=(GRADES,),
        world=BUSY,
    ),
    Case(
        "A shorter timeout needs an approval from now on, and so does this one",
        (HARSH, template("evals", "timeout_s=7200", "timeout_s=3600")),
        (tells("policy-added", "timeout-changed", "needs an approval"), stops("timeout-changed", "evals", "1 h")),
        may=("run-cost",),
    ),
    Case(
        "More machines than the quota has are always there, and the rest is asked for",
        (stack(H100, "replicas: { min: 4, max: 6 }"),),
        (hurts("quota-short-now", "nvidia_h100_gpus", "no cluster is made before a limit"),),
        may=(*ANEW, "quota-requested", "quota-short-at-most", "idle-cost"),
        given=(REQUEST,),
        world=World(limits={"nvidia_h100_gpus": 24}),
        accident="quota exhausted in the midst of a deployment",
    ),
    Case(
        "Pools at their maximum have to fit from now on",
        (stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        (tells("quota-check-stricter", "quota", "strict"),),
    ),
    Case(
        "The network that a busy cluster is attached to is deleted",
        names=(stops("jobs-lose-network", "train", "tune-27b-x1"), stops("resource-deleted", "train")),
        steps=deletes(NETWORK, "train", {"name": "train"}),
        given=(ON_A_NETWORK,),
        world=BUSY,
        accident="a network deleted under what used it",
    ),
    Case(
        "The key of a busy cluster's disks is deleted",
        names=(stops("jobs-lose-network", "k", "tune-27b-x1", "key"), stops("resource-deleted", "k")),
        steps=deletes(KEY, "k", {"name": "k"}),
        given=(ENCRYPTED,),
        world=BUSY,
        accident="a key destroyed, and with it the data",
    ),
    Case(
        "The secret that running jobs read gets another value, which a restart reads",
        names=(hurts("jobs-restart-differently", "hf-token", "another value", "tune-27b-x1"),),
        may=("resource-created",),
        steps=creates(VERSION, "hf-token-4", {"secret": f"projects/{PROJECT}/secrets/hf-token"}),
        world=BUSY,
        accident="a rotated key that was still in use",
    ),
    Case(
        "The catalog that everybody submits by is deleted",
        names=(stops("resource-deleted", "catalog", "gs://acme-catalog/catalog.json"),),
        steps=does(
            step(
                "delete",
                OBJECT,
                "catalog",
                old={"bucket": "acme-catalog", "name": "catalog.json"},
                parent="slipway:components:Catalog",
            )
        ),
        world=World(jobs=(LARGE,)),
        accident="an index deleted that every client read",
    ),
    Case(
        "The program takes a role from submitters who are still listed",
        names=(stops("submitter-gone", TEAM, "stay a submitter", "can no longer submit jobs"),),
        steps=does(
            step(
                "delete",
                ON_PROJECT,
                "submit",
                old={"project": PROJECT, "member": TEAM, "role": "roles/aiplatform.user"},
                parent=WORKSPACE,
            )
        ),
        accident="a grant removed that was thought unused",
    ),
    Case(
        "A person of a contractor's domain may submit",
        (added("user:kim@contractor.example"),),
        (hurts("submitter-added", "user:kim@contractor.example"),),
        accident="access for a contractor, never taken back",
    ),
    Case(
        "A group of the own domain's branch may submit",
        (added("group:ml@eu.acme.example"),),
        (tells("submitter-added", "group:ml@eu.acme.example"),),
    ),
    Case(
        "A role of our own loses a permission",
        names=(hurts("resource-changed", "trainers", "permissions", "a.list"),),
        steps=updates(
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            "trainers",
            {"roleId": "trainers", "permissions": ["a.get", "a.list"]},
            permissions=["a.get"],
        ),
        accident="a role narrowed that was thought too wide",
    ),
    Case(
        "A dataset has other labels, which is for information, and a secret another value, which nobody sees",
        names=(
            tells("resource-changed", "measured", "labels"),
            hurts("resource-changed", "runs", "`rootPassword` `hidden`"),
        ),
        steps=does(
            edits(DATASET, "measured", {"datasetId": "measured", "labels": {"a": "b"}}, labels={}),
            edits(SQL, "runs", {"name": "runs", "rootPassword": "tiger-tiger"}, rootPassword="lion-lion"),
        ),
        never=("tiger-tiger", "lion-lion"),
    ),
    Case(
        "A database is deleted that is protected from that, so that the deployment fails",
        names=(stops("resource-deleted", "runs", "protected from that, so the deployment would fail"),),
        steps=deletes(SQL, "runs", {"name": "runs", "deletionProtection": True}),
    ),
    Case(
        "The program takes a right from submitters without which they still submit",
        names=(hurts("access-gone", TEAM, "roles/logging.viewer"),),
        steps=does(
            step(
                "delete",
                ON_PROJECT,
                "logs",
                old={"project": PROJECT, "member": TEAM, "role": "roles/logging.viewer"},
                parent=WORKSPACE,
            )
        ),
        accident="a grant removed that was thought unused",
    ),
    Case(
        "The trainer gets a role of which nobody here knows what it allows",
        names=(stops("access-added | role-above-table", TRAINER, f"projects/{PROJECT}/roles/own"),),
        steps=granted(ON_PROJECT, f"serviceAccount:{TRAINER}", f"projects/{PROJECT}/roles/own"),
        accident="a role given in haste",
    ),
    Case(
        "What has another name only because another resource is made anew goes with it",
        names=(stops("resource-replaced", "suffix", "what it depends on is made anew"),),
        steps=replaces("random:index/randomId:RandomId", "suffix", {"byteLength": 4}),
    ),
)
