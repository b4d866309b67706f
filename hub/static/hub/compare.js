// Two versions side by side: j and k go to the next and the previous change, over the ends of the page as well.
"use strict";

(() => {
  const changes = [...document.querySelectorAll("#hub-compare [data-change]")];
  let at = -1;

  function move(step) {
    const next = changes[at + step];
    if (next) {
      at += step;
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "center" });
      return;
    }
    const more = document.querySelector(`main [rel=${step > 0 ? "next" : "prev"}]`);
    if (more) more.click();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches("input, select, textarea") || event.target.closest("dialog")) return;
    if (event.key !== "j" && event.key !== "k") return;
    event.preventDefault();
    move(event.key === "j" ? 1 : -1);
  });
})();
