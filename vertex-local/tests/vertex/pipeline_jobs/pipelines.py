"""Small compiled pipelines, in the form that kfp 2 writes."""

from typing import Any

ARTIFACT = {"artifactType": {"schemaTitle": "system.Dataset", "schemaVersion": "0.0.1"}}
TEXT = {"parameterType": "STRING"}
SAY = 'mkdir -p "$(dirname "$2")"; printf "%s" "$0, $1" > "$2"; echo "$0, $1"'
WRITE = 'mkdir -p "$(dirname "$1")"; printf "%s" "$0" > "$1"'


def container(command: str, *args: str, **more: Any) -> dict[str, Any]:
    return {"container": {"image": "python:3.11", "command": ["sh", "-c", command], "args": list(args)} | more}


def component(label: str, inputs: dict[str, Any] | None = None, outputs: dict[str, Any] | None = None) -> Any:
    return {"executorLabel": label, "inputDefinitions": inputs or {}, "outputDefinitions": outputs or {}}


def task(component: str, after: tuple[str, ...] = (), /, **inputs: Any) -> dict[str, Any]:
    """A task of a component, with its parameters; a constant where a value is no dict."""
    parameters = {
        key: value if isinstance(value, dict) else {"runtimeValue": {"constant": value}}
        for key, value in inputs.items()
    }
    body: dict[str, Any] = {"componentRef": {"name": component}, "taskInfo": {"name": component}}
    return body | {"dependentTasks": list(after), "inputs": {"parameters": parameters}}


def made(producer: str, key: str = "text") -> dict[str, Any]:
    """The output of a task, as an input of another."""
    return {"taskOutputParameter": {"producerTask": producer, "outputParameterKey": key}}


def of_run(name: str) -> dict[str, Any]:
    return {"componentInputParameter": name}


def greet(**changes: Any) -> dict[str, Any]:
    """A pipeline that greets somebody twice: the second task takes what the first has written."""
    greeting = component("exec-greet", {"parameters": {"word": TEXT, "name": TEXT}}, {"parameters": {"text": TEXT}})
    arguments = [
        "{{$.inputs.parameters['word']}}",
        "{{$.inputs.parameters['name']}}",
        "{{$.outputs.parameters['text'].output_file}}",
    ]
    base: dict[str, Any] = {
        "pipelineInfo": {"name": "greet"},
        "schemaVersion": "2.1.0",
        "sdkVersion": "kfp-2.14.6",
        "components": {"greet": greeting},
        "deploymentSpec": {"executors": {"exec-greet": container(SAY, *arguments)}},
        "root": {
            "inputDefinitions": {"parameters": {"who": TEXT | {"defaultValue": "ada", "isOptional": True}}},
            "dag": {
                "tasks": {
                    "hello": task("greet", word="hello", name=of_run("who")),
                    "bye": task("greet", ("hello",), word="bye", name=made("hello")),
                }
            },
        },
    }
    return base | changes


def pipeline_job(spec: dict[str, Any] | None = None, bucket: str = "pipes", **changes: Any) -> dict[str, Any]:
    config = {"gcsOutputDirectory": f"gs://{bucket}/root"} | changes.pop("runtimeConfig", {})
    return {"displayName": "greet", "pipelineSpec": spec or greet(), "runtimeConfig": config} | changes
