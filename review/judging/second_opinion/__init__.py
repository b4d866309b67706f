"""A model's second opinion on what rules judged: what is asked, what of the answer holds, and asking it."""
