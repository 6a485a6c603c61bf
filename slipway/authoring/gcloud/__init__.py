"""Job files of gcloud (`gcloud ai custom-jobs create --config`): read into a template, and written from a request."""
