// The copy button beside a token.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = button.dataset.copied;
    } else {
      window.getSelection().selectAllChildren(source); // no clipboard without https: select it at least
    }
  });
}
