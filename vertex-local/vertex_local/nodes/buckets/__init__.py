"""Buckets as folders of a file system, as a replica sees them below /gcs: what Cloud Storage FUSE is to Vertex AI."""
