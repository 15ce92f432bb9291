"""What the benchmarks write: a table that hides no miss, and a picture of the rows that have a bar."""

from xml.etree import ElementTree

from benchmarks.clock import Timings, measure
from benchmarks.misses import MISSES
from benchmarks.page import line, page
from benchmarks.picture import picture
from benchmarks.row import Row, timed

WITHIN = Row("one call", 0.7, "a peer", 1.6, 0.44, 0.5)
OVER = Row("8 MiB as 50,000 small events", 260, "JSON", 100, 2.6, 2.0)
UNEXPLAINED = Row("a <new> row", 3, "`x`", 1, 3.0, 2.0)
INFORMATION = Row("one call", 0.7, "another peer", 0.5, 1.4, None)
MISSING = Row("one call", 0.0, "a third", None, None, None, note="no wheel for this platform")


def test_a_row_tells_both_sides_the_ratio_and_whether_the_bar_holds() -> None:
    assert line(WITHIN) == "| one call | 0.70 ms | a peer | 1.60 ms | 0.44 | 0.50 | yes |"
    assert line(OVER) == "| 8 MiB as 50,000 small events | 260 ms | JSON | 100 ms | 2.60 | 2.00 | **no** |"
    assert line(INFORMATION) == "| one call | 0.70 ms | another peer | 0.50 ms | 1.40 |  |  |"
    assert line(MISSING) == "| one call |  | a third | not measured: no wheel for this platform |  |  |  |"


def test_a_page_explains_the_bars_that_were_missed_and_no_others() -> None:
    told = page([WITHIN, OVER, UNEXPLAINED, INFORMATION, MISSING])
    _, _, explained = told.partition("## Over the bar\n\n")
    assert explained == (
        f"- **{OVER.work}** against JSON: {MISSES[OVER.work]}\n\n- **a <new> row** against `x`: this run missed it.\n"
    )
    assert "Over the bar" not in page([WITHIN, INFORMATION, MISSING])


def test_the_picture_shows_each_row_that_has_a_bar() -> None:
    drawn = ElementTree.fromstring(picture([WITHIN, OVER, UNEXPLAINED, INFORMATION, MISSING]))
    name = "{http://www.w3.org/2000/svg}"
    assert drawn.get("aria-label") == "1 of 3 measurements are within their bars"
    colours = [found.get("class") for found in drawn.iter(f"{name}rect") if found.get("class") != "track"]
    assert colours == ["within", "over", "over"]
    assert "a <new> row" in [found.text for found in drawn.iter(f"{name}text")]


def test_a_ratio_is_that_of_the_rounds_and_not_of_the_medians() -> None:
    timings = Timings({"ours": [1.0, 4.0, 9.0], "theirs": [2.0, 4.0, 3.0]})
    assert timed("work", "ours", "peer", "theirs", 1.0, timings) == Row("work", 4000, "peer", 3000, 1.0, 1.0)


def test_what_has_measured_itself_is_believed_and_the_first_round_only_warms_up() -> None:
    told = iter([100.0, 2.0, 4.0])
    assert measure({"ours": lambda: next(told)}, 2, per=2).median("ours") == 1.5
