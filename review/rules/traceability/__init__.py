"""Rules on identifiers, their definitions and the links between them."""
