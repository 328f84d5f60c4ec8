"""Charts as SVG, which pages of other extensions show: bars and lines, with a reading a point.

Input: points. Output: the geometry (svg_charts.py), which templates/chart.html draws.
"""

from scan.registry import Extension

EXTENSION = Extension("charts on pages of other extensions")
