"""Cloud Storage: the JSON API, uploads, downloads and batches, with contents in files and everything else in the
store."""
