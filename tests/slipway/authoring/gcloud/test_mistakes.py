"""Mistakes of a job file, each with its line, its field and the way out: mistakes.txt has all of them. # N13

`python -m tests.slipway.authoring.gcloud.test_mistakes` writes it.
"""

from pathlib import Path

import pytest

from slipway.authoring.gcloud.importing import Naming, read
from slipway.base.errors import ConfigError
from tests.slipway.authoring.mistakes import written

TABLE = Path(__file__).with_name("mistakes.txt")


def said(text: str) -> str:
    with pytest.raises(ConfigError) as error:
        read(text, "job.yaml", Naming("imported", "of a file", "jobs/trainer"))
    assert "nothing was written" in error.value.what
    return error.value.why.replace("job.yaml:", "")


def test_each_is_told_with_its_line_its_field_and_the_way_out() -> None:
    content = TABLE.read_text("utf-8")
    assert written(TABLE, said) == content
    assert not any("hf_AbC" in line for line in content.splitlines() if line.startswith("! ")), "no secret is repeated"


if __name__ == "__main__":
    TABLE.write_text(written(TABLE, said), "utf-8")
