"""What may be done with collections and documents: every door calls these, with the caller's principal."""
