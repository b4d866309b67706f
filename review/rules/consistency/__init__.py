"""Rules on words, quantities and totals that contradict each other."""
