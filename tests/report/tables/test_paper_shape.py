"""Tables as papers print them, from estimates written by hand beside the cells that they should make."""

from __future__ import annotations

from dataclasses import replace

from tiltmeter import registry
from tiltmeter.records import Estimate
from tiltmeter.report.tables import cross_tables
from tiltmeter.report.tables.cross_tables import CrossTable

SODA = registry.protocol("soda")


def row(
    measure: str, value: float | None, subject: str = "b", p: float | None = None, **about: str
) -> Estimate:
    return Estimate(
        "soda",
        subject,
        "attributes/judge@12345678",
        measure,
        {"mode": "images", **about},
        None,
        value,
        "distance",
        p=p,
        n=40,
        variant="published",
        signature="S",
    )


def table(name: str, rows: list[Estimate], *show: str) -> CrossTable:
    (found,) = cross_tables.declared(SODA, rows, "published", name, show)
    return found


def bds(value: float, object: str, group: str, p: float, subject: str = "b") -> Estimate:
    return row("bds", value, subject, p, object=object, dimension="gender", group=group)


def test_objects_and_groups_stand_in_the_printed_order_with_marks_and_an_average() -> None:
    """SODA's Table 2: laptop after car, men before women, † below .01, averages in the last row."""
    rows = [
        bds(0.35, "laptop", "men", 0.001),
        bds(0.298, "laptop", "women", 0.2),
        bds(0.4455, "car", "women", 0.009),
        bds(0.287, "car", "men", 0.04),
        row("bds_overall", 0.3185, "b", dimension="gender", group="men"),
        row("bds_overall", 0.37175, "b", dimension="gender", group="women"),
    ]
    found = table("Table 2", rows)
    assert found.row_names == ("Model", "Object")
    assert found.columns == (("Men",), ("Women",))
    assert found.rows == (
        (("b", "Car"), ("0.287", "0.446†")),
        (("b", "Laptop"), ("0.350†", "0.298")),
        (("Overall Avg", ""), ("0.319", "0.372")),
    )
    starred = table("Table 2", rows, "value", "stars")
    assert starred.rows[0][1] == ("0.287*", "0.446**†")


def test_attributes_are_ranked_within_a_model_and_say_which_objects_have_them() -> None:
    """SODA's Table 3: 0.5 + 0.7 before 0.9 + 0.1; the highest of a row is marked."""
    sums = {"color": (0.5, 0.7), "shape": (0.9, 0.1)}
    rows = [
        row("cds_over_objects", value, dimension=dimension, attribute=name)
        for name, values in sums.items()
        for dimension, value in zip(("age", "gender"), values, strict=True)
    ]
    rows += [
        row("cds", 0.4, object=one, dimension="age", attribute=name)
        for one, name in (("car", "color"), ("cup", "color"), ("cup", "shape"))
    ]
    found = table("Table 3", rows)
    assert found.columns == (("Objects",), ("Age",), ("Gender",))
    assert found.rows == (
        (("b", "color"), ("All Objects", "0.500", "0.700 △")),
        (("b", "shape"), ("Cup", "0.900 △", "0.100")),
    )


def test_cases_are_listed_and_counted() -> None:
    """SODA's Tables 5 and 8: a row a case, none of the base prompt's, and their number below."""
    about = {"object": "car", "attribute": "body_type"}

    def case(group: str, dimension: str, value: str) -> Estimate:
        one = row("concentrated", 1.0, **about, dimension=dimension, group=group)
        return replace(one, condition={**one.condition, "value": value})

    whole = row("concentrated", 0.5, object="car")
    rows = [whole, case("women", "gender", "SUV"), case("base", "base", "sedan")]
    found = table("Table 5", rows)
    assert found.rows == ((("b", "Car", "Women", "body_type"), ("SUV",)),)
    assert found.notes == ("1 case.",)
    assert table("Table 5", rows[:1]).notes == ("0 cases.",)
    moved = replace(
        row("shift", 0.95, **about, dimension="gender", group="women"),
        contrast={"body_type": "sedan → SUV"},
        unit="share",
        sides={"level": 0.95, "baseline": 1.0},
    )
    found = table("Table 8", [moved])
    assert found.rows == ((("b", "Car", "body_type", "Women"), ("1.00", "0.95", "sedan → SUV")),)


def test_concentration_stands_by_object_with_the_average_of_a_model() -> None:
    """SODA's Table 4: the highest of each column is marked, not of each row."""
    rows = [
        row("vac", value, subject, object=one)
        for subject, values in (("a", (0.537, 0.699)), ("b", (0.623, 0.426)))
        for one, value in zip(("car", "cup"), values, strict=True)
    ]
    rows += [row("vac_over_objects", 0.618, "a"), row("vac_over_objects", 0.5245, "b")]
    found = table("Table 4", rows)
    assert found.columns == (("Car",), ("Cup",), ("Avg",))
    assert found.rows == (
        (("a",), ("0.537", "0.699 △", "0.618 △")),
        (("b",), ("0.623 △", "0.426", "0.525")),
    )
