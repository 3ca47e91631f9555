"""Statistics that every protocol shares: pure functions over counts and arrays.

Nothing here imports another room of tiltmeter, and this file imports nothing at all, so that
``import tiltmeter.stats`` does not import numpy. Import each name from its module:

======================  ============================================================================
``rates``               one share and its interval; clustered shares, differences and means; bounds
``beta_binomial``       the posterior behind the far limit of a clustered share
``association``         ratios and odds on the log scale, paired t, Welch's t, equivalence (TOST)
``resampling``          sign flip and t of paired differences, outcomes shuffled inside items, two
                        means
``conditions``          items with several conditions: the tested one, all alike, pairs of
                        levels
``divergence``          entropy, Jensen–Shannon divergence and distance, chance adjustment, VAC
``permutation``         permuting whole rows: base against group, pairs, concentration
``multiplicity``        Holm and Benjamini–Hochberg, and the items that a family needs
``confusion``           a judge against gold by item: sensitivity, specificity, precision, F1, gaps
                        of error
``agreement``           Cohen's κ, Gwet's AC1, Krippendorff's α, pairs of a panel
``correction``          shares and differences corrected by gold (Rogan–Gladen)
``multiclass``          several classes corrected at once by the confusion matrix
``prediction_powered``  means corrected by a random few with gold (PPI++)
``youden``              Youden's J of a judge, and the gold needed to judge the judge
``detectable``          the smallest shift that a test detects, for a plan or a report
``rejections``          the share of simulated tables that a test rejects
``share_shifts``        observed shifts converted into shares
``power``               the difference that t finds, from a standard error
``stopping``            runs that stop early: looks, sequential p, futility, estimates after a stop
``results``             the frozen ``Interval`` and ``Test`` that the others return
======================  ============================================================================
"""
