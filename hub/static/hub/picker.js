// Documents are picked by their names: a box that searches as one types stands in for a field of ids.
"use strict";

(() => {
  const WAIT_MS = 200;
  const form = document.querySelector("form[data-pickers]");
  const names = JSON.parse(document.getElementById("hub-names").textContent);
  const plan = document.getElementById("hub-plan"); // on the page that starts reviews

  // Tells what the review would be, as far as it is known; the answer is a part of the page, escaped by the server.
  let asked = 0;
  async function showPlan() {
    if (!plan) return;
    const turn = ++asked;
    if (!form.elements.document.value) {
      plan.replaceChildren();
      return;
    }
    const given = new FormData(form);
    given.delete("csrfmiddlewaretoken");
    const address = `${form.dataset.plan}?${new URLSearchParams(given)}`;
    const response = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
    const html = await response.text();
    if (turn === asked && response.ok && !response.redirected) plan.innerHTML = html;
  }

  function pickerOf(field) {
    const most = Number(field.dataset.most);
    const chips = document.createElement("ul");
    const search = document.createElement("input");
    const list = document.createElement("ul");
    const idsOf = () => field.value.split(/[\s,、]+/).filter(Boolean);

    chips.className = "hub-chips";
    search.type = "search";
    search.className = field.className;
    search.placeholder = form.dataset.search;
    search.id = `${field.id}-search`;
    list.id = `${field.id}-list`;
    list.className = "hub-picks";
    list.hidden = true;
    const label = form.querySelector(`label[for="${field.id}"]`);
    label.htmlFor = search.id;
    list.setAttribute("aria-label", label.textContent);
    field.type = "hidden";
    field.required = false; // the server asks for it; a hidden field could not say so
    field.after(chips, search, list);

    function showChips() {
      chips.replaceChildren(
        ...idsOf().map((id) => {
          const chip = document.createElement("li");
          const remove = document.createElement("button");
          remove.type = "button";
          remove.textContent = "×";
          remove.setAttribute("aria-label", `${form.dataset.remove} ${names[id] || id}`);
          remove.addEventListener("click", () => set(idsOf().filter((one) => one !== id)));
          chip.append(names[id] || id, remove);
          return chip;
        }),
      );
      chips.hidden = !idsOf().length;
    }

    function set(ids) {
      field.value = ids.join(" ");
      showChips();
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }

    function choose({ id, title }) {
      names[id] = title;
      const others = idsOf().filter((one) => one !== id);
      set([...others, id].slice(-most)); // one more than may be takes the place of the first
      search.focus();
    }

    async function offer(words) {
      const query = new URLSearchParams({ q: words, scope: field.dataset.picker });
      const response = await fetch(`${form.dataset.documents}?${query}`, { headers: { Accept: "application/json" } });
      return response.ok && !response.redirected ? (await response.json()).found : null;
    }

    offerAsOneTypes(search, list, { offer, choose, nothing: form.dataset.nothing, waitMs: WAIT_MS });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && !event.isComposing && !search.value) set(idsOf().slice(0, -1));
    });
    showChips();
  }

  for (const field of form.querySelectorAll("[data-picker]")) pickerOf(field);
  form.addEventListener("change", (event) => {
    if (event.target.name) showPlan();
  });
  if (plan) form.querySelector("[name=estimate]").hidden = true; // the plan is told as one chooses
  showPlan();
})();
