"""The page in a real browser: no complaint, nothing fetched, an order of keys that makes sense."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clinqa.present.report import write_report
from present.browser import Tab, browse, chromium
from present.made_scores import write_scores

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    path = folder / "report.html"
    write_report([write_scores(folder / "scores")], path)
    return path


def test_no_complaint_nothing_fetched_and_no_overflow_at_three_widths(page: Path) -> None:
    async def work(tab: Tab) -> list[tuple[int, int]]:
        seen = []
        for width in (390, 820, 1400):
            for dark in (False, True):
                await tab.open(page, width=width, dark=dark)
                wide = await tab.script("document.documentElement.scrollWidth")
                seen.append((width, wide))
        assert tab.complaints() == []
        assert set(tab.requests()) == {page.resolve().as_uri()}
        return seen

    assert all(wide <= width for width, wide in browse(work))


def test_tab_goes_from_the_skip_link_through_the_contents_to_the_tables_in_page_order(
    page: Path,
) -> None:
    async def work(tab: Tab) -> list[dict[str, Any]]:
        await tab.open(page)
        order = []
        for _ in range(40):
            await tab.press("Tab")
            order.append(
                await tab.script(
                    """(() => { const e = document.activeElement; 
                    const s = getComputedStyle(e), box = e.getBoundingClientRect();
                    return {tag: e.tagName, name: e.className, 
                            top: box.top + scrollY, outline: s.outlineStyle,
                            where: e.closest("nav") ? "nav" : e.closest("main") ? "main" : "body"};
                    })()"""
                )
            )
        return order

    order = browse(work)
    assert order[0]["name"] == "skip"
    ends = [n for n, stop in enumerate(order) if n and stop["name"] == "skip"]
    order = order[: ends[0]] if ends else order  # after the last stop it starts again
    places = [stop["where"] for stop in order if stop["where"] != "body"]
    assert places == sorted(places, reverse=True)  # the contents first, then the results
    tops = [stop["top"] for stop in order if stop["where"] == "main"]
    assert len(tops) > 8 and tops == sorted(tops)
    assert all(stop["outline"] != "none" for stop in order if stop["where"] == "main")


def test_the_skip_link_leads_to_the_results(page: Path) -> None:
    async def work(tab: Tab) -> str:
        await tab.open(page)
        await tab.press("Tab")
        await tab.press("Enter")
        place: str = await tab.script("location.hash + ' ' + document.activeElement.tagName")
        return place

    assert browse(work) == "#main MAIN"


CONTRAST = """
(() => {
  const parse = (c) => {
    const m = c.match(/[\\d.]+/g).map(Number);
    return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1];
  };
  const light = (c) => {
    const f = c.slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2];
  };
  const over = (a, b) => a.slice(0, 3).map((v, i) => v * a[3] + b[i] * (1 - a[3])).concat(1);
  const ground = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) {
      const b = parse(getComputedStyle(e).backgroundColor);
      layers.push(b);
      if (b[3] === 1) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255, 1]);
  };
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest(".chart, .hidden, .skip, script, details:not([open]) > dl")) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const b = ground(e);
    const text = light(over(parse(getComputedStyle(e).color), b));
    const [x, y] = [text, light(b)].sort((p, q) => q - p);
    const ratio = (x + 0.05) / (y + 0.05);
    if (ratio < 4.5) low.push(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(low)];
})()
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_has_the_contrast_of_wcag_aa(page: Path, dark: bool) -> None:
    async def work(tab: Tab) -> list[str]:
        await tab.open(page, dark=dark)
        found: list[str] = await tab.script(CONTRAST)
        return found

    assert browse(work) == []


def test_the_accessibility_tree_names_landmarks_tables_and_charts(page: Path) -> None:
    async def work(tab: Tab) -> list[tuple[str, str]]:
        await tab.open(page)
        tree = await tab.call("Accessibility.getFullAXTree")
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in tree["nodes"]
            if "role" in node
        ]

    nodes = browse(work)
    roles = [role for role, _ in nodes]
    assert {"main", "navigation", "table", "columnheader", "rowheader"} <= set(roles)
    named = [(role, name) for role, name in nodes if role in ("table", "region", "image", "img")]
    assert named and all(name for _, name in named)


def test_it_prints_on_paper_without_scripts_of_any_kind(page: Path, tmp_path: Path) -> None:
    async def work(tab: Tab) -> bytes:
        await tab.open(page, dark=True)
        await tab.pdf(tmp_path / "page.pdf")
        return (tmp_path / "page.pdf").read_bytes()

    pdf = browse(work)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    assert pdf.startswith(b"%PDF") and 4 < pages < 30
