"""Backups: one consistent copy of the database and of every file that it names, and the way back from it."""
