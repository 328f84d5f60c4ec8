"use strict";
// The values of charts: point at one, touch it, or go through them with the arrow keys.
(() => {
  function prepare(figure) {
    const svg = figure.querySelector("svg");
    const reading = figure.querySelector("figcaption output");
    const rows = figure.querySelectorAll("tbody tr");
    const bars = svg.querySelector(".bars, .wicks");
    // The parts of SVG's path that mark the values: a bar, the wick of a candle, a point of the line.
    const marks = bars
      ? bars.getAttribute("d").slice(1).split("M")
      : [...svg.querySelector("polyline").points].slice(2, -2).map(({x, y}) => `${x} ${y}h0`);
    const shown = document.createElementNS("http://www.w3.org/2000/svg", "path");
    let current = marks.length;
    shown.setAttribute("class", "point");
    if (bars?.hasAttribute("stroke-width")) shown.setAttribute("stroke-width", bars.getAttribute("stroke-width"));
    svg.append(shown);

    function show(index) {
      current = Math.max(0, Math.min(marks.length - 1, index));
      shown.setAttribute("d", `M${marks[current]}`);
      const [time, value] = rows[current].cells;
      reading.textContent = `${time.textContent}: ${value.textContent}`;
    }

    function showNearest(event) {
      const frame = svg.getBoundingClientRect();
      const x = ((event.clientX - frame.left) / frame.width) * svg.viewBox.baseVal.width;
      const distances = marks.map((mark) => Math.abs(parseFloat(mark) - x));
      show(distances.indexOf(Math.min(...distances)));
    }

    svg.tabIndex = 0;
    svg.addEventListener("pointermove", showNearest);
    svg.addEventListener("pointerdown", showNearest);
    svg.addEventListener("focus", () => show(current));
    svg.addEventListener("keydown", (event) => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!step) return;
      event.preventDefault();
      show(current + step);
    });
  }

  for (const figure of document.querySelectorAll("figure.chart")) prepare(figure);
})();
