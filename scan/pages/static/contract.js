"use strict";
// The source of a contract: copying a file, linking to a line.
(() => {
  for (const button of document.querySelectorAll("button[data-copy-from]")) {
    button.addEventListener("click", async () => {
      try {
        const response = await fetch(scan.base + button.dataset.copyFrom);
        if (!response.ok) throw new Error();
        await scan.copyText(await response.text());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
    });
  }

  // A line's number is drawn before it by the style, so a click there is one left of its text.
  for (const source of document.querySelectorAll("pre.source")) {
    source.addEventListener("click", (event) => {
      const line = event.target.closest("span[id]");
      if (!line || !getSelection().isCollapsed) return;
      const text = document.createRange();
      text.selectNodeContents(line);
      if (event.clientX < text.getBoundingClientRect().left) location.hash = line.id;
    });
  }

  // A line that is linked to may be in a part of the source that another page has.
  function openPageOf(id) {
    const [, anchor] = /^(F[0-9]+-|)L[0-9]+$/.exec(id) || [];
    const link = anchor === undefined ? null : document.querySelector(`a[data-anchor="${anchor}"]`);
    if (link) location.replace(Object.assign(new URL(link.href), {hash: id}));
  }

  // A line that is linked to may be in a closed file.
  function openFile() {
    const id = decodeURIComponent(location.hash.slice(1));
    const line = document.getElementById(id);
    const file = line?.closest("details.file");
    if (!file) return openPageOf(id);
    if (file.open) return; // then the browser has scrolled to the line
    file.open = true;
    line.scrollIntoView({block: "center"});
  }
  window.addEventListener("hashchange", openFile);
  openFile();
})();
