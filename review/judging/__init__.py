"""Judging by a language model: what is asked, what of the answer holds, and what a run does when none comes."""
