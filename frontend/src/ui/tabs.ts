import { el } from "./dom.ts";

export interface Tab {
  title: string;
  content: HTMLElement;
}

/** Tabs as readers of screens know them: arrows move between them, and only the chosen one is a tab stop. */
export class Tabs {
  readonly element: HTMLElement;
  private readonly buttons: HTMLButtonElement[];

  constructor(
    private readonly tabs: Tab[],
    label: string,
    private readonly onChoose: () => void,
  ) {
    this.buttons = tabs.map(({ title }, k) =>
      el(
        "button",
        { type: "button", role: "tab", id: `tab-${k}`, "aria-controls": `tabpanel-${k}`, on: { click: () => this.choose(k) } },
        title,
      ),
    );
    const list = el("div", { class: "tablist", role: "tablist", "aria-label": label }, ...this.buttons);
    list.addEventListener("keydown", (event) => this.key(event));
    const panels = tabs.map(({ content }, k) =>
      el("div", { class: "tabpanel", role: "tabpanel", id: `tabpanel-${k}`, "aria-labelledby": `tab-${k}` }, content),
    );
    this.element = el("aside", { class: "side", "aria-label": label }, list, ...panels);
    this.choose(0);
  }

  choose(chosen: number): void {
    this.buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === chosen));
      button.tabIndex = k === chosen ? 0 : -1;
      this.tabs[k].content.parentElement!.hidden = k !== chosen;
    });
    this.onChoose();
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const now = this.buttons.findIndex((button) => button.tabIndex === 0);
    const next = (now + step + this.buttons.length) % this.buttons.length;
    this.choose(next);
    this.buttons[next].focus();
    event.preventDefault();
    event.stopPropagation();
  }
}
