"""Reviews: starting, running, reading and replaying them."""
