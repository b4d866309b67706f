"""Collections, and who has which right in them."""
