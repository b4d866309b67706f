"""What the hub answers, recorded so that a change can be held to "byte for byte the same"."""
