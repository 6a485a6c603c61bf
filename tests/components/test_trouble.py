"""The hook for errors: its words, and that every resource has it beside its own. That the engine calls it: journeys."""

from components import engine
from components.engine import explain_errors, words
from components.guard import NAME as GUARD
from components.guard import guard
from components.persistent_resource import PersistentResource
from slipway.google.live import InUse
from slipway.google.provider_errors import meaning_of

from .conftest import PROJECT, REGION, cluster, declared, only


def test_the_words_name_the_thing_and_the_way_out() -> None:
    meaning = meaning_of("deleting urn:x: 1 error occurred:\n\t* googleapi: Error 429: slower, please\n\n", {})
    said = words("cpu-1a2b3c4", "gcp:vertex/aiPersistentResource:AiPersistentResource", "delete", meaning)
    what, why, fix = said.splitlines()
    assert what.startswith("AiPersistentResource cpu-1a2b3c4 could not be deleted")
    assert why == "  why: slower, please" and fix.startswith("  fix: wait a minute")


def test_every_resource_has_it_beside_its_own_hooks() -> None:
    def program() -> None:
        hooks = guard(lambda _: InUse(), lambda _: 0.0, lambda _: False)
        explain_errors({})
        PersistentResource("cpu-1a2b3c4", cluster(), project=PROJECT, region=REGION, hooks=hooks)

    made = only(declared(program), "gcp:vertex/aiPersistentResource:AiPersistentResource").request.hooks
    assert list(made.before_delete) == [GUARD] and list(made.on_error) == [engine.TROUBLE]


def test_its_name_is_in_every_state() -> None:
    assert engine.TROUBLE == "slipway-trouble-v1"
