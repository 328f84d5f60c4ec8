// What belongs onto one line and is on two: an address and the button that copies it, a price and its side.
(() => {
  const isShown = (element) => element && element.checkVisibility() && !element.closest("details:not([open])");
  const middle = (element) => { const box = [...element.getClientRects()].at(-1); return (box.top + box.bottom) / 2; };
  const buttons = [...document.querySelectorAll("a.whole + button.copy")].filter(isShown).filter((button) =>
    Math.abs(middle(button) - middle(button.previousElementSibling.querySelector(".hash"))) > 14);
  const prices = innerWidth < 1280 ? [] : [...document.querySelectorAll("td.number.exchange")].filter((cell) => {
    const [side, price] = [cell.querySelector(".badge"), cell.querySelector(".amount")];
    return isShown(side) && price && Math.abs(middle(side) - middle(price)) > 14;
  });
  return [...buttons, ...prices].map((element) => "on two lines: " + element.parentElement.outerHTML.slice(0, 200));
})()
