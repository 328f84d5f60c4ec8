
[...document.querySelectorAll("main a")].filter((link) => link.checkVisibility())
  .filter((link) => !link.innerText.trim() || link.offsetWidth < 8)
  .map((link) => link.outerHTML.slice(0, 200))
