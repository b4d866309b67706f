"""The mapping of check items to guideline articles."""
