// A file that is dropped on the list of reviews goes the way of every upload, and on to the start of its review.
"use strict";

(() => {
  const panel = document.getElementById("hub-drop");
  const told = panel.querySelector("[role=alert]");
  const dialog = panel.querySelector("dialog");
  const fields = dialog.querySelector("[data-fields]");
  const PART = { headers: { "X-Requested-With": "fetch" } };

  function tell(text) {
    told.textContent = text;
    told.hidden = !text;
  }

  async function partOf(address, options = {}) {
    const response = await fetch(address, { ...PART, ...options });
    if (response.redirected) throw new Error(panel.dataset.failed);
    const part = new DOMParser().parseFromString(await response.text(), "text/html");
    const refused = part.querySelector("[role=alert]");
    if (refused) throw new Error(refused.textContent);
    if (!response.ok) throw new Error(panel.dataset.failed);
    return part;
  }

  // The fields of the page for uploads say where the file may go; what people don't choose stays as that page has it.
  async function askWhere(file) {
    const form = (await partOf(panel.dataset.upload)).querySelector("form[data-uploader]");
    if (!form) throw new Error(panel.dataset.failed);
    dialog.querySelector("h2").textContent = file.name;
    fields.replaceChildren(
      ...["collection", "document_type"].map((name) => {
        const label = form.elements[name].closest("label");
        label.className = "hub-field";
        form.elements[name].className = "hub-input";
        return document.importNode(label, true);
      }),
    );
    dialog.returnValue = "";
    dialog.showModal();
    await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
    if (dialog.returnValue !== "ok") return null;
    const given = new FormData(form);
    given.delete("files");
    given.append("files", file);
    for (const field of fields.querySelectorAll("select")) given.set(field.name, field.value);
    return { address: form.getAttribute("action"), given };
  }

  async function take(files) {
    tell("");
    if (files.length !== 1) {
      tell(panel.dataset.one);
      return;
    }
    try {
      const wanted = await askWhere(files[0]);
      if (!wanted) return;
      panel.setAttribute("aria-busy", "true");
      const rows = await partOf(wanted.address, { method: "POST", body: wanted.given });
      const row = rows.querySelector("[data-document]");
      if (!row) throw new Error(panel.dataset.failed);
      window.location.assign(`${panel.dataset.start}?${new URLSearchParams({ document: row.dataset.document })}`);
    } catch (error) {
      tell(error.message);
    } finally {
      panel.removeAttribute("aria-busy");
    }
  }

  const input = panel.querySelector("[data-file]");
  input.hasChangeListener = true; // Unfold would look for its own field of a path beside it
  input.addEventListener("change", (event) => {
    if (event.target.files.length) take(event.target.files);
    event.target.value = "";
  });
  dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
  const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    panel.classList.add("hub-dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) panel.classList.remove("hub-dropping");
  });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    panel.classList.remove("hub-dropping");
    take(event.dataTransfer.files);
  });
})();
