// Says to screen readers what has changed; the last text within a moment is the one that is said.
import { el } from "./dom.ts";

export class Announcer {
  readonly element = el("div", { class: "unseen", role: "status", "aria-live": "polite" });
  private timer = 0;

  say(text: string): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.element.textContent = text), 250);
  }
}
