"""PowerPoint slides."""
