"""What every replica of a packaged job starts first. Its one module is copied into each package, so it stands alone."""
