"""What Slipway does not declare itself, as data: what each type holds, guards and opens, and which inputs do.

A type without a row is judged as one that holds data: it is blocking that it goes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Undeclared:
    """`ends_with_it` goes when the resource goes. `signs_in_as` is the input that names an account: whoever has the
    resource is that account. `denies` is the input that lists principals whom roles help no more."""

    ends_with_it: str = ""
    signs_in_as: str = ""
    denies: str = ""


_BY_TYPE: Mapping[str, Undeclared] = {
    "gcp:alloydb/": Undeclared("all databases in it"),
    "gcp:artifactregistry/repository:": Undeclared("all images and packages in it"),
    "gcp:bigquery/dataset:": Undeclared("all tables in it"),
    "gcp:bigquery/table:": Undeclared("all rows in it"),
    "gcp:bigtable/": Undeclared("all data in it"),
    "gcp:compute/disk:": Undeclared("all data on it"),
    "gcp:compute/reservation:": Undeclared("its machines, which may not come again"),
    "gcp:filestore/instance:": Undeclared("all files on it"),
    "gcp:firestore/": Undeclared("all documents in it"),
    "gcp:iam/denyPolicy:": Undeclared("what it denied, which roles allow again", denies="deniedPrincipals"),
    "gcp:kms/": Undeclared("whatever is encrypted with it, which nobody can read any more"),
    "gcp:pubsub/subscription:": Undeclared("all messages that were not read"),
    "gcp:redis/": Undeclared("all data in it"),
    "gcp:secretmanager/secret:": Undeclared("all its versions"),
    "gcp:secretmanager/secretVersion:": Undeclared("its value"),
    "gcp:serviceaccount/key:": Undeclared("whatever signs in with it", signs_in_as="serviceAccountId"),
    "gcp:spanner/": Undeclared("all data in it"),
    "gcp:sql/database:": Undeclared("all tables in it"),
    "gcp:sql/databaseInstance:": Undeclared("all its databases and its backups"),
    "gcp:storage/hmacKey:": Undeclared("whatever signs in with it", signs_in_as="serviceAccountEmail"),
    "gcp:vertex/aiFeature": Undeclared("all values in it"),
    "gcp:vertex/aiIndex:": Undeclared("all vectors in it"),
    "gcp:vertex/aiTensorboard:": Undeclared("all experiments and runs logged to it"),
    "aws:dynamodb/table:": Undeclared("all items in it"),
    "aws:iam/accessKey:": Undeclared("whatever signs in with it", signs_in_as="user"),
    "aws:rds": Undeclared("all its databases"),
    "aws:s3": Undeclared("what is in it"),
    "random:": Undeclared("the value that others were made with"),
}
GUARDS: Mapping[str, object] = {
    "deletionProtection": True,
    "deletionProtectionEnabled": True,
    "deleteProtection": True,
    "enableDeletionProtection": True,
    "deletionPolicy": "PREVENT",
    "forceDestroy": False,
    "deleteContentsOnDestroy": False,
    "skipFinalSnapshot": False,
}
"""Inputs, of any type, that keep something from being deleted, with the value that does."""
HURTS = re.compile(
    r"(?i)(expir|ttl|retention|cleanuppolic|lifecycle|backup|pointintime|destroyscheduled|disabled$|versiondestroy"
    # Whom a federation lets in.
    r"|attributecondition)"
)
"""Inputs, of any type, that end or delete data by themselves, or let others in."""


def undeclared(type_: str) -> Undeclared:
    """The row of a type; an empty one where the table has none."""
    return next((row for start, row in _BY_TYPE.items() if type_.startswith(start)), Undeclared())
