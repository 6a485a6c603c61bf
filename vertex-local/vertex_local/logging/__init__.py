"""Cloud Logging: entries written by jobs and clients, read with a filter, page by page."""
