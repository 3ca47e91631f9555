"""Small versions of the benchmarks: coverage, P(p ≤ α) under the null, false discoveries."""

from xml.etree import ElementTree

from tests.benchmark import benchmark


def test_intervals_keep_their_promise() -> None:
    rows = benchmark("coverage").intervals(tables=400, seed=20, small=True)
    assert len(rows) >= 16
    assert [row for row in rows if not row.kept] == []


def test_few_items_keep_their_promise() -> None:
    """48 designs of three shapes, 11 and 30 outputs an item, beside the interval of version 0.1."""
    module = benchmark("few_items")
    rows = [module.measured(design, 60, seed=20) for design in module.designs(small=True)]
    assert module.broken(rows) == []
    assert module.relative(rows, "width") < 1 and module.relative(rows, "score") < 0.95
    worst_before = max(row.before.wrong_unmarked for row in rows)
    assert max(row.now.wrong_unmarked for row in rows) < worst_before


def test_the_plain_t_interval_would_fail_here() -> None:
    """The same check can fail: t(C-1) without repair, and outputs pooled as if independent."""
    found = benchmark("coverage").otherwise(tables=150, seed=20)
    near = found["C = 9, m = 10, share 0.1, ICC 0.5"]
    assert near["t(C-1)"] < 88 < near["shipped"]
    assert near["pooled Wilson"] < 75
    assert found["C = 9, m = 10, share 0.98, ICC 0.05"]["t(C-1)"] < 88


def test_sign_flip_keeps_its_level() -> None:
    module = benchmark("coverage")
    for name, (drawn, levels) in module.sign_flip_levels(tables=500, seed=20).items():
        assert module.level_kept(levels, drawn), (name, levels)


def test_false_discoveries() -> None:
    for name, share in benchmark("coverage").false_discoveries(families=500, seed=21).items():
        assert share <= 0.06, name


def test_permutation_keeps_its_level() -> None:
    """Skewed, sparse, even and single-valued tables; whole rows of two attributes that hang together."""
    module = benchmark("permutation")
    found = module.levels(tables=300, seed=20)
    assert len(found) == 12
    for name, (drawn, levels) in found.items():
        assert module.kept(levels, drawn), (name, levels)


def test_kernel_is_much_faster_than_a_loop_and_agrees_with_it() -> None:
    """Loosely, for a busy machine: the benchmark holds the promise of 150 times and 0.3 CPU s."""
    found = benchmark("permutation").speed(seed=20, looped=1)
    assert found["ratio"] > 10
    assert found["kernel_s"] < 2
    assert found["p_apart"] < 0.08


def test_pictures_are_well_formed() -> None:
    values = dict.fromkeys(["pooled Wilson", "t(C-1)", "shipped"], 95.0)
    assert ElementTree.fromstring(
        benchmark("coverage").picture({"one design": values})
    ).tag.endswith("svg")
    rows = [{"n": n, "plugin": 0.1, "distance": 0.25, "adjusted": 0.0} for n in (5.0, 200.0)]
    assert ElementTree.fromstring(benchmark("permutation").picture(rows)).tag.endswith("svg")
