"""Values and purpose of each key of a study and of a model to upload, as in `template_keys`. # D8"""

from __future__ import annotations

from collections.abc import Mapping

from tests.docs.template_keys import COUNT, Key

SETTING_KEYS: Mapping[str, Mapping[str, Key]] = {
    "Study": {
        "metrics": Key("What trials are judged by.", 'metrics=(Metric("loss", "minimize"),)'),
        "parameters": Key("What is searched.", 'parameters=(Search("depth", "integer", min=1, max=9),)'),
        "max_trials": Key("Trials in all.", "max_trials=20", COUNT, ("max_trials=0",)),
        "parallel_trials": Key(
            "Trials at once, each on machines of its own.", "parallel_trials=4", COUNT, ("parallel_trials=9",)
        ),
        "algorithm": Key("", 'algorithm="random"', "`bayesian`, `grid` or `random`", ('algorithm="luck"',)),
        "max_failed_trials": Key(
            "So many failed ones end the study; 0 leaves that to the service.",
            "max_failed_trials=2",
            refused=("max_failed_trials=9",),
        ),
        "measurement": Key(
            "Of a trial, what counts.", 'measurement="last"', "`best` or `last`", ('measurement="mean"',)
        ),
        "stopping": Key("Ends a trial early that will not be good.", 'stopping=Stopping("median")'),
        "trials_without_progress": Key("Ends the study after so many.", "trials_without_progress=5"),
        "seconds_without_progress": Key("Ends the study after so long.", "seconds_without_progress=3600"),
    },
    "Metric": {
        "id": Key("As the code reports it with `cloudml-hypertune`.", 'id="loss"'),
        "goal": Key("", 'goal="minimize"', "`maximize` or `minimize`", ('goal="best"',)),
    },
    "Search": {
        "name": Key("The code gets it as `--NAME=VALUE`.", 'name="decay"'),
        "kind": Key(
            "",
            'kind="integer", min=1, max=9',
            "`double`, `integer`, `categorical` (texts) or `discrete` (ascending numbers)",
            ('kind="float"', 'kind="discrete"'),
        ),
        "min": Key("Of `double` and `integer`.", "min=0.2", "needed for them; included", ("min=None",)),
        "max": Key("Of `double` and `integer`.", "max=0.8", "needed for them; included", ("max=None",)),
        "values": Key(
            "Of `categorical` and `discrete`.",
            'kind="categorical", values=("svc", "forest")',
            "needed for them",
            ('values=("svc",), min=0.1',),
            given="min=None, max=None, kind='discrete', values=(1, 2)",
        ),
        "scale": Key(
            "The service's choice when left out.", 'scale="log"', "`linear`, `log` or `reverse-log`", ('scale="cubic"',)
        ),
        "conditions": Key(
            "What is searched for some of its values alone.",
            'conditions=(Condition((1,), (Search("width", "double", min=0.1, max=1.0),)),)',
            "not of a `double`",
            given="min=None, max=None, kind='discrete', values=(1, 2)",
        ),
    },
    "Condition": {
        "values": Key("Values of the parameter that it belongs to.", 'values=("svc", "forest")'),
        "parameters": Key("What is searched then.", 'parameters=(Search("c", "double", min=0.1, max=9.0),)'),
    },
    "Stopping": {
        "rule": Key("", 'rule="convex"', "`median`, `decay-curve` or `convex`", ('rule="early"',)),
        "use_elapsed_duration": Key("Compares by time run, not by steps.", "use_elapsed_duration=True"),
    },
    "ModelUpload": {
        "display_name": Key("It may hold placeholders.", 'display_name="words ${slipway.job}"'),
        "serving_image": Key("The container that serves it.", 'serving_image="example/serve:1"'),
        "artifact": Key("Its folder below the output directory: `AIP_MODEL_DIR` when left out.", 'artifact="best/"'),
        "model_id": Key(
            "Of a new model; it may hold placeholders.", 'model_id="words"', refused=('model_id="Words!"',)
        ),
        "parent_model": Key(
            "Makes a new version of a model that is there.",
            'parent_model="projects/acme-ml/locations/us-central1/models/words"',
            refused=('parent_model="words"',),
        ),
        "description": Key("", 'description="counts words"'),
        "serving_args": Key(
            "Of the container; the service puts the model's folder in the place of `$(AIP_STORAGE_URI)`.",
            'serving_args=("--model=$(AIP_STORAGE_URI)",)',
        ),
        "serving_port": Key("Where it listens.", "serving_port=8080", "the service's 8080 when left out"),
        "predict_route": Key("Where it takes predictions.", 'predict_route="/generate"'),
        "health_route": Key("Where it says that it is well.", 'health_route="/ping"'),
        "shared_memory_mb": Key("Memory that its processes share.", "shared_memory_mb=16_384", "MB"),
    },
}
