"""Copies of original files with notes at words of them. Written in parser children, which know no findings."""
