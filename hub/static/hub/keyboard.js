// What Unfold opens by a press of the mouse alone (menu, account, filters, brightness) becomes buttons, for keys, too.
"use strict";

(() => {
  const REACHED = "a[href], button, input, select, textarea, summary, label, [tabindex]";
  const MOST_FRAMES = 60;
  const isJapanese = document.documentElement.lang.startsWith("ja");
  const NAMES = {
    sidebar: isJapanese ? "メニュー" : "Menu",
    openTheme: isJapanese ? "明るさ" : "Brightness",
    rowOpen: isJapanese ? "詳細" : "Details",
    openModal: isJapanese ? "閉じる" : "Close",
    openActions: isJapanese ? "操作" : "Actions",
    openDropdown: isJapanese ? "ほかの選択" : "More",
    openTabsDropdown: isJapanese ? "ほかのタブ" : "More tabs",
  };
  const OPENED = {
    sidebarMobileOpen: "#nav-sidebar .hub-door",
    openUserLinks: "#nav-sidebar-inner nav a, #nav-sidebar-inner nav button",
    filterOpen: "#changelist-filter a",
  };
  const ofAction = (table, one) => {
    const action = one.getAttribute("x-on:click");
    return Object.entries(table).find(([name]) => action.includes(name))?.[1];
  };

  // Alpine shows a part some time after the press; one that was closed by it is never shown.
  function focusOnceShown(selector, tries = MOST_FRAMES) {
    const part = document.querySelector(selector);
    part?.focus();
    if (part && document.activeElement !== part && tries) requestAnimationFrame(() => focusOnceShown(selector, tries - 1));
  }

  addEventListener("DOMContentLoaded", () => {
    for (const one of document.querySelectorAll("[x-on\\:click]")) {
      if (one.matches(REACHED) || one.querySelector(REACHED) || !one.textContent.trim()) continue;
      one.tabIndex = 0;
      one.setAttribute("role", "button");
      const name = ofAction(NAMES, one); // of those that are a picture alone
      if (name) one.setAttribute("aria-label", name);
    }
  });

  addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key) || !event.target.matches("[role=button][x-on\\:click]")) return;
    event.preventDefault();
    event.target.click();
    const opened = ofAction(OPENED, event.target);
    if (opened) focusOnceShown(opened);
  });
})();
