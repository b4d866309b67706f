// Icons are words in a font of pictures ("dashboard"): readers of the screen are to hear what stands beside them alone.
"use strict";

(() => {
  const ICON = ".material-symbols-outlined";

  function quieten(icon) {
    const control = icon.closest("a, button, summary, [role=button]");
    if (control === icon) return; // a button by itself, which keyboard.js gives a name
    if (control && !control.hasAttribute("aria-label")) {
      const copy = control.cloneNode(true);
      for (const one of copy.querySelectorAll(ICON)) one.remove();
      if (!copy.textContent.trim() && !copy.querySelector("img[alt]")) {
        const name = control.title || control.closest("[x-tooltip\\.raw]")?.getAttribute("x-tooltip.raw");
        if (!name) return; // the icon's word is the only name that the control has
        control.setAttribute("aria-label", name);
      }
    }
    icon.setAttribute("aria-hidden", "true");
  }

  addEventListener("DOMContentLoaded", () => {
    for (const icon of document.querySelectorAll(ICON)) quieten(icon);
  });
})();
