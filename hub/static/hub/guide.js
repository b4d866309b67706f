// "?" opens the part of the guide that is about the page, unless the page has a help of its own or somebody is typing.
"use strict";

addEventListener("keydown", (event) => {
  const help = document.querySelector("link[rel=help]");
  if (event.key !== "?" || event.defaultPrevented || !help || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, dialog, [contenteditable]")) return;
  window.location.assign(help.href);
});
