"""Cue words and items as samples: the crossed design and what is estimated and tested on it.

================  ==================================================================================
``design``        which prompt has which side, cue word, item and how many answers
``variances``     the two-way variance of a share, difference or ratio over items and cue words
``populations``   its tests and intervals: these items or items like them, these words or others
``whole_prompts`` do items differ in how the cue moves them: whole prompts dealt over the sides
``lineups``       rankings of names: labels dealt inside a line-up, and names that recur
================  ==================================================================================
"""
