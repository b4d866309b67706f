"""Changing what is in force: drafts of check masters and prompts, import and export, approval behind the gate."""
