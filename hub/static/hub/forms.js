// Forms: what was typed survives a session that ends, and leaving a page with unsaved text is asked first.
"use strict";

(() => {
  const KEPT = "hub-typed";
  const HOUR_MS = 3600000;
  const here = location.pathname;
  const isKept = (field) => field.name && !field.disabled && !["hidden", "password", "file", "submit", "button"].includes(field.type);

  function valuesOf(form) {
    return [...form.elements].filter(isKept).map((field) => [field.name, field.type, ["checkbox", "radio"].includes(field.type) ? field.checked : field.value, field.value]);
  }

  // The token of the session that there is now: somebody may have signed in anew in another tab.
  function renewToken(form) {
    const token = form.elements.csrfmiddlewaretoken;
    const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
    if (token && cookie && form.method.toLowerCase() === "post") token.value = cookie;
  }

  function restore(kept) {
    for (const form of document.querySelectorAll("form")) {
      if (new URL(form.action, location).pathname !== kept.action || form.id !== kept.form || form.method === "get") continue;
      for (const [name, type, value, own] of kept.values) {
        const fields = [...form.elements].filter((field) => field.name === name && isKept(field));
        const field = ["checkbox", "radio"].includes(type) ? fields.find((one) => one.value === own) : fields[0];
        if (!field) continue;
        if (["checkbox", "radio"].includes(type)) field.checked = value;
        else field.value = value;
        field.dispatchEvent(new Event("change", { bubbles: true }));
      }
      form.closest("details")?.setAttribute("open", "");
      const line = document.createElement("p");
      line.className = "notice hub-notice";
      line.setAttribute("role", "status");
      line.textContent = document.documentElement.lang.startsWith("ja")
        ? "セッションが終了していたため保存されていませんでした。入力内容を戻しました。確かめて、もう一度保存してください。"
        : "The session had ended, and nothing was saved. What you typed is back: look at it, and save again.";
      form.prepend(line);
      return;
    }
  }

  addEventListener("DOMContentLoaded", () => {
    const text = sessionStorage.getItem(KEPT);
    if (text && !here.endsWith("/login/")) {
      const kept = JSON.parse(text);
      if (kept.page === here && document.referrer.includes("/login/") && Date.now() - kept.at < HOUR_MS) {
        sessionStorage.removeItem(KEPT);
        restore(kept);
      } else if (document.referrer.includes("/login/") && Date.now() - kept.at < HOUR_MS && kept.action === here) {
        location.replace(kept.page); // signing in led to where the form is sent to: back to the form
      } else sessionStorage.removeItem(KEPT);
    }
    const changed = new Set();
    addEventListener("input", (event) => {
      const form = event.target.closest?.("form[data-warn]");
      if (form) changed.add(form);
    });
    addEventListener("submit", (event) => changed.delete(event.target));
    addEventListener("beforeunload", (event) => {
      if (changed.size) event.preventDefault();
    });
  });

  addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method.toLowerCase() !== "post" || here.endsWith("/login/")) return;
    renewToken(form);
    const kept = { page: here, action: new URL(form.action, location).pathname, form: form.id, at: Date.now(), values: valuesOf(form) };
    try {
      if (kept.values.some(([, type, value]) => type !== "checkbox" && value)) sessionStorage.setItem(KEPT, JSON.stringify(kept));
    } catch (error) {
      console.warn("forms:", error); // more than the browser keeps
    }
  }, true);
})();
