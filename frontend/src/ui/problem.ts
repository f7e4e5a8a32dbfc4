// In place of a blank page: what is wrong, and what to do.
import { el } from "./dom.ts";

export function showProblem(root: Element, message: string): void {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.className = "";
  root.replaceChildren(
    el(
      "main",
      { class: "problem", role: "alert" },
      el("h1", {}, "This page cannot be shown"),
      el("p", {}, message),
      el(
        "p",
        { class: "hint" },
        "Write the page anew with “cotherm view” if loading it again does not help. If it still fails, please report it together with the line above.",
      ),
    ),
  );
}
