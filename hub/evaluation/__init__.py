"""Measuring the hub against answers that people gave: datasets of cases, runs over them, and pure measures."""
