// Keys of the search page: "/" to type, j and k (or arrows outside of the field) to move, Enter to open.
"use strict";

(() => {
  const query = document.getElementById("hub-query");
  const links = [...document.querySelectorAll("[data-hit] .hub-hit-title")];
  if (query.autofocus) query.focus(); // browsers leave it out where no frame is drawn after the load

  // A table wider than the page shows the first column with a mark.
  for (const box of document.querySelectorAll(".hub-passage-table")) {
    const ends = [...box.querySelectorAll("mark")].map((mark) => mark.getBoundingClientRect().right);
    const beyond = Math.min(...ends) - box.getBoundingClientRect().right;
    if (ends.length && beyond > 0) box.scrollLeft = beyond + 24;
  }

  function move(step) {
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1);
    if (links[next]) links[next].focus();
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      query.focus();
      query.select();
    } else if (event.key === "Escape" && event.target === query) {
      query.blur();
    } else if ((event.key === "j" || event.key === "ArrowDown") && !typing && links.length) {
      event.preventDefault();
      move(1);
    } else if ((event.key === "k" || event.key === "ArrowUp") && !typing && links.length) {
      event.preventDefault();
      move(-1);
    }
  });
})();
