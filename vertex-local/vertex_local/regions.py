"""Google Cloud's regions, for services that are in all of them; those of training are in `supply/machines.toml`."""

_NUMBERS = {
    "africa-south": "1",
    "asia-east": "1 2",
    "asia-northeast": "1 2 3",
    "asia-south": "1 2",
    "asia-southeast": "1 2 3",
    "australia-southeast": "1 2",
    "europe-central": "2",
    "europe-north": "1 2",
    "europe-southwest": "1",
    "europe-west": "1 2 3 4 6 8 9 10 12",
    "me-central": "1 2",
    "me-west": "1",
    "northamerica-northeast": "1 2",
    "northamerica-south": "1",
    "southamerica-east": "1",
    "southamerica-west": "1",
    "us-central": "1",
    "us-east": "1 4 5",
    "us-south": "1",
    "us-west": "1 2 3 4",
}
REGIONS = frozenset(f"{head}{number}" for head, numbers in _NUMBERS.items() for number in numbers.split())
