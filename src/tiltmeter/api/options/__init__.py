"""Options of the verbs, and the settings of a project."""
