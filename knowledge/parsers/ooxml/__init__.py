"""What the three Office formats share."""
