"""Documents: uploading, listing, reading, editing, deleting, and the sources that they come from."""
