
[...document.querySelectorAll(".table, .table td")].filter((element) => {
  if (element.closest("[hidden], details:not([open])")) return false;
  const box = element.getBoundingClientRect();
  const isCut = element.matches(".table") && element.scrollWidth > element.clientWidth;
  const isOutside = box.left < 0 || box.right > innerWidth + 1;
  const isHidden = element.textContent.trim() && !box.width && !element.querySelector(".own")
    && !element.matches("td.rest"); // of a phone's two lines a row
  const inside = element.matches("td") ? [...element.children] : [];
  const spills = inside.some((child) => child.getBoundingClientRect().right > box.right + 1);
  return isCut || isOutside || isHidden || spills;
}).map((element) => element.outerHTML.slice(0, 200))
