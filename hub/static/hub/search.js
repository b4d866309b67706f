// Keys of the search page: "/" to type, j and k (or arrows outside of the field) to move, Enter to open.
"use strict";

(() => {
  const query = document.getElementById("hub-query");
  const links = [...document.querySelectorAll("[data-hit] .hub-hit-title")];
  if (query.autofocus) query.focus(); // browsers leave it out where no frame is drawn after the load

  // A long passage shows where most of the marks are, and not its beginning.
  for (const box of document.querySelectorAll(".hub-hit-text")) {
    const marks = [...box.querySelectorAll("mark")];
    if (box.scrollHeight <= box.clientHeight || !marks.length) continue;
    const top = box.getBoundingClientRect().top - box.scrollTop;
    const places = marks.map((mark) => mark.getBoundingClientRect().top - top);
    const weights = marks.map((mark) => mark.textContent.length);
    const seen = (from) => places.reduce((sum, at, n) => sum + (at >= from && at < from + box.clientHeight * 0.8 ? weights[n] : 0), 0);
    const best = places.reduce((chosen, at) => (seen(at) > seen(chosen) ? at : chosen), places[0]);
    if (best > box.clientHeight * 0.6) box.scrollTop = best - 24;
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
