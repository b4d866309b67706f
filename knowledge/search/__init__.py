"""Finding passages: analysis of the question, two legs, fusion, calibrated scores."""
