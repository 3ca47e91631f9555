"""Statistics that every protocol shares: pure functions over counts and arrays.

Nothing here imports another room of tiltmeter, and this file imports nothing at all, so that
``import tiltmeter.stats`` costs no numpy. Take what is needed from the module that holds it:

======================  ============================================================================
``rates``               one share and its interval; clustered shares, differences and means; bounds
``beta_binomial``       the posterior behind the far limit of a clustered share
``association``         ratios and odds on the log scale, paired t, Welch's t, equivalence (TOST)
``resampling``          sign flip and t of paired differences, outcomes shuffled inside items, two
                        means
``conditions``          items asked in several conditions: the tested one, all alike, pairs of
                        levels
``divergence``          entropy, Jensen–Shannon divergence and distance, chance adjustment, VAC
``permutation``         whole rows permuted together: base against group, pairs, concentration
``multiplicity``        Holm and Benjamini–Hochberg, what a family needs
``confusion``           a judge against gold by item: sensitivity, specificity, precision, F1, gaps
                        of error
``agreement``           Cohen's κ, Gwet's AC1, Krippendorff's α, pairs of a panel
``correction``          shares and differences corrected by gold (Rogan–Gladen)
``multiclass``          several classes corrected at once by the confusion matrix
``prediction_powered``  means corrected by a random few with gold (PPI++)
``youden``              is a judge good enough: Youden's J, and how much gold would do
``detectable``          the smallest shift that a test finds, of a plan and of a report
``rejections``          how often a test rejects drawn tables
``share_shifts``        what an observed shift is in shares
``power``               the difference that t finds, from a standard error
``stopping``            runs that stop early: looks, sequential p, futility, what follows a stop
``results``             the frozen ``Interval`` and ``Test`` that the others return
======================  ============================================================================
"""
