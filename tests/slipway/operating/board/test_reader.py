"""Due dates of the board: those of `slipway schedule`, however many newer jobs there are."""

from dataclasses import replace
from datetime import timedelta

from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.season import Season
from slipway.operating.board.reader import due_dates
from tests.builders.clusters import living
from tests.builders.place import NOW, PROJECT, REGION, STACK
from tests.slipway.operating.doctor.picture import picture, published
from tests.slipway.reviewing.builders import catalog, cluster


def test_an_idle_limit_counts_from_the_last_job_though_newer_ones_crowd_it_out() -> None:  # B6, Z8
    """The newest jobs are read for the tables, and the cluster was due since its creation without one among them."""
    limited = cluster("cpu", season=Season(idle_limit=timedelta(days=4)))
    limited = replace(limited, id=cluster_id("cpu", fingerprint_of(STACK, PROJECT, REGION, limited)))
    whole, ends = catalog(limited), {limited.id: NOW - timedelta(days=1)}
    seen = picture(living(limited), jobs=(), recent=(), published=published(whole), last_ends=ends)
    (due,) = due_dates(whole, seen) or ()
    assert (due["what"], due["time"]) == ("idle-limit", NOW + timedelta(days=3))
