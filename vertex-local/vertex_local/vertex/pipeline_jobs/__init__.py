"""Pipeline jobs: compiled Kubeflow pipelines, each task of which runs as a custom job."""
