// A button with data-needs takes its form only with a file in the field of that id; the form's other buttons without.
for (const button of document.querySelectorAll("button[data-needs]")) {
  button.addEventListener("click", () => { document.getElementById(button.dataset.needs).required = true; });
}
