
[...document.querySelectorAll(".table table")].flatMap((table) =>
  [...table.tHead.rows[0].cells].filter((head) => {
    const cells = [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex]);
    const points = cells.flatMap((cell) => [...(cell?.querySelectorAll(".fraction") || [])])
      .map((part) => part.getBoundingClientRect()).map((box) => Math.round(box.left));
    return new Set(points).size > 1;
  }).map((head) => head.textContent))
