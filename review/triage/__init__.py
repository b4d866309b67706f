"""What people decide about findings: triage, verdicts, signing off, carrying decisions over."""
