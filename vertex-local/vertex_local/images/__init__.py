"""Container images, as environments built from recipes, and the caches that clusters keep of them."""

from pathlib import Path

from . import cache


def cluster_cache(state_folder: Path, cluster_id: str) -> Path:
    """Return the folder in which a cluster's machines keep images."""
    return state_folder / "pools" / cluster_id / "images"


def clear(state_folder: Path, cluster_id: str) -> str:
    """Empty a cluster's image cache, and return a sentence that says so."""
    folder = cluster_cache(state_folder, cluster_id)
    if not folder.is_dir():
        return f"There is no image cache of {cluster_id}: no job has run on a cluster with that id here."
    count = cache.clear(folder)
    if not count:
        return f"The image cache of {cluster_id} was empty."
    return f"Emptied the image cache of {cluster_id}: {count} image{'s' if count > 1 else ''}."
