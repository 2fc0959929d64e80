"""Draws SVG: curves of growth, one panel per curve and readable on light and dark backgrounds, and bars, for one
background."""

import html
import math
from dataclasses import dataclass

WIDTH, HEIGHT, GAP = 300, 190, 40
LEFT, TOP, BOTTOM = 36, 30, 34


@dataclass
class Curve:
    """Points: a number, and its cost as a multiple of the first cost. `limit` is the target."""

    name: str
    points: list
    limit: float


# Of bars: the height of one with its gap, and the widths of its name and of the longest.
STEP, NAME, LONGEST = 30, 250, 400
# The colours of names, of this project's bars and of others, by background.
COLOURS = {"light": ("#1f2328", "#1a7f37", "#8c959f"), "dark": ("#e6edf3", "#3fb950", "#6e7681")}


@dataclass
class Bar:
    """A name, a note in small letters, a time, and whether it is one of this project."""

    name: str
    note: str
    seconds: float
    is_own: bool


def bars(title, rows, background):
    """Bars as long as their times, with the times in text."""
    text, own, other = COLOURS[background]
    longest = max(row.seconds for row in rows)
    height = 40 + STEP * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {NAME + LONGEST + 90} {height}" role="img" '
        f'font-family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="14" fill="{text}">',
        f"<title>{html.escape(title)}</title>",
        f'<text x="0" y="16" font-weight="600">{html.escape(title)}</text>',
    ]
    for number, row in enumerate(rows):
        top, colour = 34 + STEP * number, own if row.is_own else other
        width = max(row.seconds / longest * LONGEST, 2)
        weight = ' font-weight="600"' if row.is_own else ""
        lines += [
            f'<text x="{NAME - 10}" y="{top + 15}" text-anchor="end"{weight}>{html.escape(row.name)}'
            f'<tspan font-size="11" opacity="0.75"> {html.escape(row.note)}</tspan></text>',
            f'<rect x="{NAME}" y="{top}" width="{width:.1f}" height="{STEP - 9}" rx="2" fill="{colour}"/>',
            f'<text x="{NAME + width + 8:.1f}" y="{top + 15}"{weight}>{row.seconds:.2f} s</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def draw(curves):
    width = len(curves) * (WIDTH + GAP)
    panels = "".join(panel(curve, i * (WIDTH + GAP)) for i, curve in enumerate(curves))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 14}" font-family="sans-serif" font-size="11">\n'
        "<style>text { fill: #777 } .curve { stroke: #2a7fd0; fill: none; stroke-width: 2 } .dot { fill: #2a7fd0 }\n"
        ".axis { stroke: #999 } .limit { stroke: #d06a2a; stroke-dasharray: 4 3 }</style>\n"
        f"{panels}</svg>\n"
    )


def panel(curve, left):
    numbers = [math.log10(n) for n, _ in curve.points]
    top = max(curve.limit, max(growth for _, growth in curve.points)) * 1.1
    span = max(numbers[-1] - numbers[0], 1e-9)

    def x(n):
        return left + LEFT + (math.log10(n) - numbers[0]) / span * (WIDTH - LEFT - 16)

    def y(growth):
        return TOP + (1 - growth / top) * (HEIGHT - TOP - BOTTOM)

    line = " ".join(f"{x(n):.1f},{y(growth):.1f}" for n, growth in curve.points)
    dots = "".join(
        f'<circle class="dot" cx="{x(n):.1f}" cy="{y(growth):.1f}" r="3"/>'
        f'<text x="{x(n):.1f}" y="{y(growth) - 7:.1f}" text-anchor="middle">{growth:.2f}</text>'
        f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{short(n)}</text>'
        for n, growth in curve.points
    )
    right, low = left + WIDTH, y(0)
    return (
        f'<text x="{left + LEFT}" y="14" font-size="13">ns/URL by {curve.name}, first = 1</text>\n'
        f'<line class="axis" x1="{left + LEFT - 8}" y1="{low:.1f}" x2="{right}" y2="{low:.1f}"/>\n'
        f'<line class="limit" x1="{left + LEFT - 8}" y1="{y(curve.limit):.1f}" x2="{right}" y2="{y(curve.limit):.1f}"/>\n'
        f'<text x="{left}" y="{y(curve.limit) + 4:.1f}">{curve.limit:g}</text>\n'
        f'<polyline class="curve" points="{line}"/>{dots}\n'
    )


def short(n):
    for size, letter in [(1_000_000, "M"), (1_000, "k")]:
        if n >= size:
            return f"{n // size}{letter}"
    return str(n)
