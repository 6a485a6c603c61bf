"""Service Usage: which APIs are on. All are, until one is disabled; a disabled one answers 403 from then on."""
