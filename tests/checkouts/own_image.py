"""A template of a container image, which says a word and sleeps as `nap` does, and one of the same image as it is."""

from pathlib import Path

from .nap import NAP, NAP_TASK

IMAGE = f"python:3.12-slim@sha256:{'1' * 64}"


def lay_out(folder: Path, name: str = "own", program: str = NAP_TASK, code: str = "", **fields: str) -> None:
    """Write the template `name`, whose image runs a program of Python. `code`: more of the image's, `fields`: of the
    template's."""
    package = NAP[NAP.index("    code=Package(") : NAP.index("    worker_pools=(")]
    image = f'    code=Image("{IMAGE}", command=("python", "-c", {program!r}), {code}),\n'
    text = NAP.replace(package, image).replace("Package,", "Image,").replace('name="nap"', f'name="{name}"')
    text = text.replace("    code_flag=True,\n", "".join(f"    {key}={value},\n" for key, value in fields.items()))
    (folder / "templates" / f"{name}.py").write_text(text)
