"""The first screen: summary, findings, badges and examples."""
