"""A template of a Kubeflow pipeline of one task, which says a word."""

from pathlib import Path

from kfp import compiler, dsl

from .own_image import IMAGE

_TEMPLATE = '''
"""piped: a pipeline whose task says a word."""

from slipway.template import JobTemplate

TEMPLATE = JobTemplate(
    name="piped",
    summary="says a word",
    kinds=("pipeline",),
    pipeline="pipelines/piped.yaml",
    capacity_types=("pool", "on-demand"),
)
'''


@dsl.container_component
def speak(say: str) -> dsl.ContainerSpec:
    return dsl.ContainerSpec(image=IMAGE, command=["echo", "the word is", say])


@dsl.pipeline(name="piped")
def piped(say: str) -> None:
    speak(say=say)


def lay_out(folder: Path) -> None:
    """Write the template `piped` and its compiled pipeline."""
    (folder / "pipelines").mkdir()
    compiler.Compiler().compile(piped, str(folder / "pipelines" / "piped.yaml"))
    (folder / "templates" / "piped.py").write_text(_TEMPLATE)
