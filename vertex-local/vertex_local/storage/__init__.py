"""Cloud Storage: the JSON API, uploads, downloads and batches, with contents in files and all else in the store."""
