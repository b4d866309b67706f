// A box that offers options as one types: the arrows mark one, Enter or a click takes it, Escape closes the list.
"use strict";

// `offer` returns [{ id, title, hint }] for what is typed, perhaps later; `choose` is given the one that was taken.
// With `nothing`, an empty list says so; without, it is closed.
function offerAsOneTypes(search, list, { offer, choose, nothing = "", waitMs = 0 }) {
  let timer = 0;
  let active = -1;
  let offered = [];

  for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", list.id], ["aria-autocomplete", "list"]]) {
    search.setAttribute(name, value);
  }
  search.autocomplete = "off";
  list.setAttribute("role", "listbox");

  function close() {
    list.hidden = true;
    active = -1;
    search.setAttribute("aria-expanded", "false");
    search.removeAttribute("aria-activedescendant");
  }

  function take(option) {
    search.value = "";
    close();
    choose(offered[Number(option.dataset.at)]);
  }

  function mark(number) {
    const options = [...list.querySelectorAll("[data-at]")];
    if (!options.length) return;
    active = (number + options.length) % options.length;
    options.forEach((one, at) => one.setAttribute("aria-selected", String(at === active)));
    options[active].scrollIntoView({ block: "nearest" });
    search.setAttribute("aria-activedescendant", options[active].id);
  }

  function optionOf(one, at) {
    const option = document.createElement("li");
    const hint = document.createElement("span");
    option.setAttribute("role", "option");
    option.id = `${list.id}-${at}`;
    option.dataset.at = String(at);
    hint.className = "hub-second";
    hint.textContent = one.hint;
    option.append(one.title, hint);
    return option;
  }

  function nothingOption() {
    const none = document.createElement("li");
    none.textContent = nothing;
    none.setAttribute("role", "option");
    none.setAttribute("aria-disabled", "true");
    return none;
  }

  async function show() {
    const words = search.value.trim();
    const found = await offer(words);
    // typed on meanwhile, or gone
    if (!found || words !== search.value.trim() || document.activeElement !== search) return;
    close();
    offered = found;
    list.replaceChildren(...(found.length || !nothing ? found.map(optionOf) : [nothingOption()]));
    list.hidden = !list.children.length;
    search.setAttribute("aria-expanded", String(!list.hidden));
  }

  search.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(show, waitMs);
  });
  search.addEventListener("focus", show);
  search.addEventListener("blur", close);
  search.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      mark(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && (!list.hidden || search.value)) {
      event.preventDefault(); // it sends nothing
      const option = list.querySelectorAll("[data-at]")[Math.max(active, 0)];
      if (option) take(option);
    } else if (event.key === "Escape") close();
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the box keeps the focus
    const option = event.target.closest("[data-at]");
    if (option) take(option);
  });
}
