// Drag and drop for the upload page; without it the file field works by itself.
"use strict";

(() => {
  const zone = document.getElementById("hub-drop");
  const input = document.getElementById("hub-files");
  const list = document.getElementById("hub-chosen");

  function size(bytes) {
    return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  }

  function showChosen() {
    list.replaceChildren(
      ...[...input.files].map((file) => {
        const item = document.createElement("li");
        item.textContent = `${file.name} (${size(file.size)})`;
        return item;
      }),
    );
  }

  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("hub-drop-over");
    });
  }
  for (const name of ["dragleave", "drop"]) {
    zone.addEventListener(name, () => zone.classList.remove("hub-drop-over"));
  }
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    showChosen();
  });
  // Unfold writes the file's name into the nearest text field, which here is the folder: tell it that we care for it
  input.hasChangeListener = true;
  input.addEventListener("change", showChosen);
})();
