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
    let timer = 0;
    let active = -1;

    chips.className = "hub-chips";
    search.type = "search";
    search.className = field.className;
    search.placeholder = form.dataset.search;
    search.autocomplete = "off";
    search.id = `${field.id}-search`;
    list.id = `${field.id}-list`;
    list.className = "hub-picks";
    list.hidden = true;
    for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", list.id], ["aria-autocomplete", "list"]]) {
      search.setAttribute(name, value);
    }
    list.setAttribute("role", "listbox");
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

    function close() {
      list.hidden = true;
      active = -1;
      search.setAttribute("aria-expanded", "false");
      search.removeAttribute("aria-activedescendant");
    }

    function choose(option) {
      names[option.dataset.id] = option.dataset.title;
      const others = idsOf().filter((id) => id !== option.dataset.id);
      set([...others, option.dataset.id].slice(-most)); // one more than may be takes the place of the first
      search.value = "";
      close();
      search.focus();
    }

    function mark(number) {
      const options = [...list.querySelectorAll("[role=option]")];
      if (!options.length) return;
      active = (number + options.length) % options.length;
      options.forEach((one, at) => one.setAttribute("aria-selected", String(at === active)));
      options[active].scrollIntoView({ block: "nearest" });
      search.setAttribute("aria-activedescendant", options[active].id);
    }

    function optionOf(one, number) {
      const option = document.createElement("li");
      const hint = document.createElement("span");
      option.setAttribute("role", "option");
      option.id = `${list.id}-${number}`;
      option.dataset.id = one.id;
      option.dataset.title = one.title;
      hint.className = "hub-second";
      hint.textContent = one.hint;
      option.append(one.title, hint);
      return option;
    }

    async function offer() {
      const words = search.value.trim();
      const query = new URLSearchParams({ q: words, scope: field.dataset.picker });
      const response = await fetch(`${form.dataset.documents}?${query}`, { headers: { Accept: "application/json" } });
      if (!response.ok || response.redirected || words !== search.value.trim()) return;
      const { found } = await response.json();
      if (document.activeElement !== search) return;
      list.replaceChildren(...found.map(optionOf));
      if (!found.length) {
        const none = document.createElement("li");
        none.textContent = form.dataset.nothing;
        none.setAttribute("role", "option");
        none.setAttribute("aria-disabled", "true");
        list.append(none);
      }
      list.hidden = false;
      search.setAttribute("aria-expanded", "true");
      active = -1;
    }

    search.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(offer, WAIT_MS);
    });
    search.addEventListener("focus", offer);
    search.addEventListener("blur", close);
    search.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        mark(active + (event.key === "ArrowDown" ? 1 : -1));
      } else if (event.key === "Enter" && !list.hidden) {
        event.preventDefault();
        const option = list.querySelectorAll("[data-id]")[Math.max(active, 0)];
        if (option) choose(option);
      } else if (event.key === "Escape") close();
      else if (event.key === "Backspace" && !search.value) set(idsOf().slice(0, -1));
    });
    list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the box keeps the focus
      const option = event.target.closest("[data-id]");
      if (option) choose(option);
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
