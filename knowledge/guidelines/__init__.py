"""Guidelines: reading them from files, comparing editions, and asking for the articles in force."""
