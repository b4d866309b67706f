"""Rules on guidelines' articles."""
