"""Renderers: page models to HTML, Markdown, terminal, notebook, JSON and CSV."""
