"""The place and time of all that is built."""

from datetime import UTC, datetime

STACK, PROJECT, REGION = "prod", "acme-prod", "us-central1"
TEAM = "group:ml@acme.example"
TRAINER = f"trainer@{PROJECT}.iam.gserviceaccount.com"
CATALOG_BUCKET, WORK_BUCKET = "acme-catalog", "acme-work"
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
