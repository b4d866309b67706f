"""The pages for everybody who signs in: ask, read, look at reviews. No rights as staff are needed."""
