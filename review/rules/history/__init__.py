"""Rules on editions, change histories and dates."""
