"""An environment for a job lets its user install packages; the image that it was copied from stays as it is. (N17)"""

import os
from pathlib import Path

from local.cloud.nodes import preparation


def test_the_image_s_own_settings_stay_as_they_are(tmp_path: Path) -> None:
    image, copy = tmp_path / "image", tmp_path / "copy"
    for folder in (image, copy):
        folder.mkdir()
    (image / "pyvenv.cfg").write_text("home = /x\ninclude-system-site-packages = false\nversion_info = 3\n")
    os.link(image / "pyvenv.cfg", copy / "pyvenv.cfg")
    preparation.show_outside(copy)
    assert (copy / "pyvenv.cfg").read_text() == "home = /x\ninclude-system-site-packages = true\nversion_info = 3\n"
    assert "= false" in (image / "pyvenv.cfg").read_text()
