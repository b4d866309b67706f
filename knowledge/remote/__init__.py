"""Collections that live elsewhere. Nothing here knows Django: a light server answers from it alone."""
