"""Answers of planted models over HTTP: chat and pictures."""
