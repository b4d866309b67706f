"""Scenarios: guided ways through several tasks."""
