"""What `make demo-down` clears beside the state folder."""

from pathlib import Path

from local.demo.demo import forget


def test_nothing_counts_as_sent_in_the_next_local_cloud(tmp_path: Path) -> None:
    gone = [tmp_path / ".slipway" / kind / "slipway-local" / "local" / "one.json" for kind in ("requests", "sweeps")]
    kept = tmp_path / ".slipway" / "requests" / "acme-ml-dev" / "dev" / "one.json"
    for file in (*gone, kept):
        file.parent.mkdir(parents=True)
        file.write_text("{}")
    forget(tmp_path)
    assert kept.exists() and not any(file.exists() for file in gone)
    forget(tmp_path)
